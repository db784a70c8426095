import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const folder = fileURLToPath(new URL('runner', import.meta.url))
const node = `${folder}/node_modules/node-linux-${process.arch}/bin/node`
const suite = `${folder}/node_modules/@modelcontextprotocol/conformance/dist/index.js`
const baseline = fileURLToPath(new URL('expected-failures.yml', import.meta.url))

/** The suite and the Node it needs live apart, so that their `node` never becomes the project's. */
export const installSuite = async (): Promise<void> => {
  if (existsSync(node) && existsSync(suite)) return
  await promisify(execFile)('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder })
}

interface Outcome {
  code: number
  report: string
}

/** Runs every server scenario of a revision, or of all with their extensions. */
export const runSuite = (url: string, version?: string): Promise<Outcome> =>
  run([
    ...['--url', url, '--suite', 'all', '--expected-failures', baseline],
    ...(version ? ['--spec-version', version] : []),
  ])

export const runScenario = (url: string, scenario: string): Promise<Outcome> =>
  run(['--url', url, '--scenario', scenario])

const run = (args: readonly string[]): Promise<Outcome> =>
  new Promise((resolve) => {
    const options = { cwd: folder, maxBuffer: 64 << 20 }
    execFile(node, [suite, 'server', ...args], options, (error, stdout, stderr) => {
      const report = (stdout + stderr).split('=== SUMMARY ===').at(-1) ?? ''
      resolve({ code: error ? 1 : 0, report })
    })
  })
