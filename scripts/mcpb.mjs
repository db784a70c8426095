// Makes cove.mcpb: the tool server as a bundle that desktop assistants install with a click. It drives
// a v2 API by URL and token, or the Cove that runs on the machine.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildStdio, buildTools, facts, root } from './bundles.mjs'

const stage = join(root, 'dist', 'mcpb')
const out = process.argv[2] ?? join(root, 'cove.mcpb')

const manifest = {
  manifest_version: '0.3',
  name: 'cove',
  display_name: 'Cove',
  version: facts.version,
  description: facts.description,
  author: { name: 'Cove' },
  license: facts.license,
  server: {
    type: 'node',
    entry_point: 'bin/cove.cjs',
    mcp_config: {
      command: 'node',
      args: ['${__dirname}/bin/cove.cjs', 'mcp'],
      env: {
        COVE_API_URL: '${user_config.api_url}',
        COVE_API_TOKEN: '${user_config.api_token}',
        SERVICES: '${user_config.services}',
        COVE_READ_ONLY: '${user_config.read_only}',
      },
    },
  },
  tools_generated: true,
  user_config: {
    api_url: {
      type: 'string',
      title: 'API URL',
      description: 'A v2 API to drive. Empty: the Cove that runs on this machine.',
      default: '',
      required: false,
    },
    api_token: {
      type: 'string',
      title: 'API token',
      description: 'The token for that API.',
      sensitive: true,
      default: '',
      required: false,
    },
    services: {
      type: 'string',
      title: 'Services',
      description: 'Services whose tools to offer, comma-separated. Empty: all.',
      default: '',
      required: false,
    },
    read_only: {
      type: 'boolean',
      title: 'Read-only',
      description: 'Offer only tools that change nothing.',
      default: false,
      required: false,
    },
  },
  compatibility: {
    platforms: ['linux', 'darwin', 'win32'],
    runtimes: { node: facts.engines.node },
  },
}

rmSync(stage, { recursive: true, force: true })
mkdirSync(join(stage, 'bin'), { recursive: true })
await buildTools(join(stage, 'dist'))
await buildStdio(join(stage, 'dist'))
cpSync(join(root, 'bin', 'cove.cjs'), join(stage, 'bin', 'cove.cjs'))
writeFileSync(join(stage, 'manifest.json'), JSON.stringify(manifest, null, 2))
const mcpb = join(root, 'node_modules', '.bin', 'mcpb')
for (const args of [
  ['validate', join(stage, 'manifest.json')],
  ['pack', stage, out],
]) {
  const { status, stdout, stderr } = spawnSync(mcpb, args, { encoding: 'utf8' })
  if (status !== 0) {
    process.stderr.write(stdout + stderr)
    process.exit(status ?? 1)
  }
}
console.log(`${out} is made.`)
