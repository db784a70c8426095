import { render } from 'preact'
import { useState } from 'preact/hooks'
import { forgetToken, savedToken, signIn } from './api.ts'
import { Activity } from './pages/activity.tsx'
import { Knowledge } from './pages/knowledge.tsx'
import { Overview } from './pages/overview.tsx'
import { Resources } from './pages/resources.tsx'
import { Tools } from './pages/tools.tsx'
import { Fault } from './parts.tsx'
import { useRoute } from './use.ts'

const pages: [string, string][] = [
  ['', 'Overview'],
  ['activity', 'Activity'],
  ['resources', 'Resources'],
  ['knowledge', 'Knowledge'],
  ['tools', 'Tools'],
]

const App = () => {
  const [signedIn, setSignedIn] = useState(savedToken() !== null)
  const route = useRoute()
  if (!signedIn) return <SignIn done={() => setSignedIn(true)} />
  const [page = '', first, second] = route.split('/').map(decodeURIComponent)
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <a class="brand" href="#/">
          Cove
        </a>
        <nav aria-label="Pages">
          {pages.map(([slug, label]) => (
            <a key={slug} href={`#/${slug}`} aria-current={slug === page ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </nav>
        <button
          type="button"
          onClick={() => {
            forgetToken()
            setSignedIn(false)
          }}
        >
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        {page === 'activity' ? (
          <Activity />
        ) : page === 'resources' ? (
          <Resources slug={first} id={second} />
        ) : page === 'knowledge' ? (
          <Knowledge />
        ) : page === 'tools' ? (
          <Tools name={first} />
        ) : (
          <Overview />
        )}
      </main>
    </>
  )
}

const SignIn = ({ done }: { done(): void }) => {
  const [fault, setFault] = useState<string>()
  const enter = async (event: Event) => {
    event.preventDefault()
    const token = String(
      new FormData(event.currentTarget as HTMLFormElement).get('token') ?? '',
    ).trim()
    try {
      await signIn({ token })
      done()
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <main id="main" class="narrow">
      <h1>Cove</h1>
      <p>
        Open the link that <code>cove up</code> printed, get a new one with{' '}
        <code>cove console</code>, or sign in with a token.
      </p>
      <form onSubmit={enter}>
        <label class="field">
          Token
          <input name="token" type="password" autocomplete="off" required />
        </label>
        <button type="submit">Sign in</button>
      </form>
      <Fault text={fault ?? linkFault} />
    </main>
  )
}

let linkFault: string | undefined
const code = /^#code=(\w+)$/.exec(location.hash)?.[1]
if (code) {
  // The code works once; it must not stay in the address or the history.
  history.replaceState(null, '', '/')
  await signIn({ code }).catch((error: Error) => {
    linkFault = error.message
  })
}
const root = document.getElementById('app')
if (root) render(<App />, root)
