import type { Status } from '#services/cove/status/contract.ts'

/** What is running, for a person with a browser. It shows nothing that needs a token. */
export const statusPage = (status: Status): Response =>
  new Response(page(status), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
  })

const page = ({ url, version, services }: Status): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Cove</title>
<style>${style}</style>
<main>
<h1>Cove <small>${escaped(version)}</small></h1>
<p>A cloud as tools for AI assistants, running on this machine.</p>
<h2>Faces</h2>
<table>
${row('Tools for assistants (MCP)', `${url}/mcp`)}
${row('v2 API', `${url}/v2`)}
${row('API description', `${url}/v2/openapi.json`, true)}
</table>
<p>Each asks for a token: the file <code>token</code> in Cove's home holds the owner's.</p>
${services.length > 0 ? `<h2>Services</h2>\n<table>\n${services.map(service).join('\n')}\n</table>` : ''}
</main>
</html>
`

const row = (what: string, where: string, link = false): string =>
  `<tr><td>${escaped(what)}</td><td><code>${
    link ? `<a href="${escaped(where)}">${escaped(where)}</a>` : escaped(where)
  }</code></td></tr>`

const service = ({ name, state, enforced, reason }: Status['services'][number]): string => {
  const standing = enforced ? state : `${state}, recorded only`
  return `<tr><td>${escaped(name)}</td><td>${escaped(standing)}</td><td>${escaped(reason ?? '')}</td></tr>`
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 46rem; margin: 3rem auto; padding: 0 1rem }
h1 small { font-size: 1rem; font-weight: normal; opacity: .7 }
table { border-collapse: collapse; width: 100% }
td { border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .4rem .6rem .4rem 0; text-align: left; vertical-align: top }
code { font-size: .9em }
`
