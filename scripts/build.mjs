// Bundles Cove into dist/. An assistant waits for our start, and one bundle starts much faster than
// many files.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const dist = join(root, 'dist')
const src = join(root, 'src')

/** Packages with native parts, or heavy ones that few runs need: resolved when they are used. */
const external = Object.keys(
  JSON.parse((await import('node:fs')).readFileSync(join(root, 'package.json'), 'utf8'))
    .dependencies,
).filter((name) => !['zod', 'hono', '@hono/node-server'].includes(name))

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  external,
}

/** Code that runs in threads of its own: every `*.worker.ts`. */
const workers = readdirSync(src, { recursive: true })
  .filter((path) => path.endsWith('.worker.ts'))
  .map((path) => ({ in: join(src, path), out: basename(path, '.ts') }))

rmSync(dist, { recursive: true, force: true })

await build({
  ...shared,
  entryPoints: [
    { in: join(src, 'cli/main.ts'), out: 'cli' },
    { in: join(src, 'cli/stdio-calls.ts'), out: 'stdio-calls' },
    { in: join(src, 'services/render.ts'), out: 'render' },
    ...workers,
  ],
  outdir: dist,
  format: 'esm',
  splitting: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Bundled CommonJS packages ask for Node's own modules this way.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
})

await build({
  ...shared,
  entryPoints: [{ in: join(src, 'cli/mcp-entry.ts'), out: 'mcp' }],
  outdir: dist,
  outExtension: { '.js': '.cjs' },
  format: 'cjs',
  define: { 'import.meta.url': 'importMetaUrl' },
  banner: { js: "const importMetaUrl = require('node:url').pathToFileURL(__filename).href;" },
  plugins: [
    {
      name: 'leave the tools in their own bundle',
      setup: (bundler) =>
        bundler.onResolve({ filter: /stdio-calls\.ts$/ }, () => ({
          path: './stdio-calls.js',
          external: true,
        })),
    },
  ],
})

const { render } = await import(join(dist, 'render.js'))
rmSync(join(dist, 'render.js'))
writeFileSync(join(dist, 'catalogue.json'), render())
