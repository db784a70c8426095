import { readFile } from 'node:fs/promises'
import { builtFile } from '#core/built.ts'

/** The files of the console: the page, its script and its style, and nothing from elsewhere. */
const files: Record<string, { name: string; type: string }> = {
  '/': { name: 'index.html', type: 'text/html; charset=utf-8' },
  '/console/app.js': { name: 'app.js', type: 'text/javascript; charset=utf-8' },
  '/console/style.css': { name: 'style.css', type: 'text/css; charset=utf-8' },
}

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The console's answer to a request, or undefined where the path is not the console's. */
export const consoleFile = async (pathname: string): Promise<Response | undefined> => {
  const file = files[pathname]
  if (!file) return undefined
  return new Response(await readFile(builtFile(`console/${file.name}`)), {
    headers: {
      'content-type': file.type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  })
}
