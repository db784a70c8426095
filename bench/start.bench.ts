/**
 * How long an assistant waits: spawn → `tools/list` answered, over stdio, in a clean environment;
 * beside the official server as people start it, a bare Node and an idle Cove's memory.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encode } from 'gpt-tokenizer'
import { projectFile } from '#core/built.ts'
import { median, report } from './measure.ts'
import { peerServer, peerServices } from './peer.ts'

const rounds = 15
const home = mkdtempSync(join(tmpdir(), 'cove-bench-'))
const env = { PATH: process.env.PATH, HOME: home, COVE_HOME: home }

const handshake = [
  {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    },
  },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
  { jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} },
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join('')

interface Listing {
  ms: number
  tools: { name: string }[]
}

/** Spawn a server and wait for its list. */
const list = async (args: string[], more: NodeJS.ProcessEnv = {}): Promise<Listing> => {
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    env: { ...env, ...more },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.write(handshake)
  let said = ''
  for await (const data of child.stdout) {
    said += data
    const answer = said.split('\n').find((line) => line.includes('"id":2') && line.endsWith('}'))
    if (!answer) continue
    const ms = performance.now() - started
    await end(child)
    return { ms, tools: JSON.parse(answer).result.tools }
  }
  throw new Error(`${args.join(' ')} ended without an answer: ${said}`)
}

const end = async (child: ChildProcess) => {
  child.stdin?.end()
  child.kill()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const bareNode = async (): Promise<number> => {
  const started = performance.now()
  await once(spawn(process.execPath, ['-e', '0'], { env, stdio: 'ignore' }), 'exit')
  return performance.now() - started
}

/** Resident megabytes of a process, and of those it started. */
const residentOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

const launcher = projectFile('bin/cove.cjs')
const peer = peerServer()

const ours: number[] = []
const theirs: number[] = []
const node: number[] = []
let oursList: Listing['tools'] = []
let theirsList: Listing['tools'] = []
// Interleaved, so that a busy moment of the machine meets all of them.
for (let round = 0; round < rounds + 1; round++) {
  // A token that nothing answers to keeps `cove mcp` from starting a daemon while we measure.
  const a = await list([launcher, 'mcp', '--api-url', 'http://127.0.0.1:9'], {
    COVE_API_TOKEN: 'none',
  })
  const b = await list([peer.launcher, '--services', peerServices], {
    DIGITALOCEAN_API_TOKEN: 'none',
  })
  const c = await bareNode()
  if (round === 0) continue // The first run warms the disk.
  ours.push(a.ms)
  theirs.push(b.ms)
  node.push(c)
  oursList = a.tools
  theirsList = b.tools
}

/** The tools that both have, under the peer's names. */
const peerName = (name: string): string =>
  name
    .replace(/^load-balancer-/, 'lb-')
    .replace('forwarding-rules', 'fwd-rules')
    .replace('acme-certificate', 'lets-encrypt-certificate')
const shared = oursList.filter((tool) =>
  theirsList.some((other) => other.name === peerName(tool.name)),
)
const sharedTheirs = theirsList.filter((other) =>
  shared.some((tool) => peerName(tool.name) === other.name),
)
const tokens = (tools: unknown) => encode(JSON.stringify(tools)).length

const daemon = spawn(process.execPath, [launcher, 'up', '--port', '0'], {
  env,
  stdio: ['ignore', 'pipe', 'ignore'],
})
await once(daemon.stdout, 'data')
const stdio = spawn(process.execPath, [launcher, 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
stdio.stdin.write(handshake)
await once(stdio.stdout, 'data')
await new Promise((resolve) => setTimeout(resolve, 3000))
const daemonMemory = residentOf(Number(daemon.pid))
const stdioMemory = residentOf(Number(stdio.pid))
await end(stdio)
await end(daemon)
rmSync(home, { recursive: true, force: true })

report(
  `Start of the tool server (median of ${rounds}; ${oursList.length} tools, the peer ${theirsList.length})`,
  [
    {
      what: 'stdio spawn → list answered, vs the official server',
      ours: median(ours),
      theirs: median(theirs),
      unit: 'ms',
      atMost: 1.15,
    },
    {
      what: 'stdio spawn → list answered, vs a bare node -e 0',
      ours: median(ours),
      theirs: median(node),
      unit: 'ms',
    },
    {
      what: `tokens of the list, ${shared.length} tools that both have`,
      ours: tokens(shared),
      theirs: tokens(sharedTheirs),
      unit: 'tokens',
      atMost: 0.7,
    },
    {
      what: 'resident memory of an idle cove up',
      ours: daemonMemory,
      theirs: 120,
      unit: 'MB',
      atMost: 1,
    },
    { what: 'resident memory of cove mcp', ours: stdioMemory, theirs: 60, unit: 'MB', atMost: 1 },
  ],
)
