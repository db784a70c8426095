// The bundles that Cove is built into.
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const src = join(root, 'src')

export const facts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Small, wanted at every start, or with exports that Node cannot name: these go into the bundle. */
const bundled = ['zod', 'hono', '@hono/node-server', 'kafkajs']

/** The rest has native parts or is heavy and seldom needed: resolved when it is used. */
const external = Object.keys(facts.dependencies).filter((name) => !bundled.includes(name))

const shared = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  external,
}

const modules = (outdir, entryPoints) =>
  build({
    ...shared,
    entryPoints,
    outdir,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    // Bundled CommonJS packages ask for Node's own modules this way.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
  })

const entry = (path, out = basename(path, '.ts')) => ({ in: join(src, path), out })

/** Code that runs in threads of its own: every `*.worker.ts`. */
const workers = () =>
  readdirSync(src, { recursive: true })
    .filter((path) => path.endsWith('.worker.ts'))
    .map((path) => entry(path))

/** The command line with everything behind it. */
export const buildProduct = (outdir) =>
  modules(outdir, [entry('cli/main.ts', 'cli'), entry('cli/stdio-calls.ts'), ...workers()])

/** The pages of the console, for a browser. */
export const buildConsole = async (outdir) => {
  await build({
    entryPoints: [join(src, 'console/app/app.tsx'), join(src, 'console/app/style.css')],
    outdir,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  })
  copyFileSync(join(src, 'console/app/index.html'), join(outdir, 'index.html'))
}

/** The tools alone, for a tool server that drives an API elsewhere. */
export const buildTools = (outdir) => modules(outdir, [entry('cli/stdio-calls.ts')])

/** What an assistant spawns, in the module format that Node starts fastest, and the list it answers with. */
export const buildStdio = async (outdir) => {
  await build({
    ...shared,
    entryPoints: [entry('cli/mcp-entry.ts', 'mcp')],
    outdir,
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
  await modules(outdir, [entry('services/render.ts')])
  const { render } = await import(join(outdir, 'render.js'))
  rmSync(join(outdir, 'render.js'))
  writeFileSync(join(outdir, 'catalogue.json'), render())
}
