import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { projectFile } from '#core/built.ts'
import { probe, systemSpawn } from '#engines/fabric/holder.ts'
import { cleanEnv, cove, launcher, newHome, type Running, startCove } from './process.ts'

/** The story of the handbook, told by a person at a shell, through a crash. */
const { mode, reason } = await probe(systemSpawn, 'auto')
if (mode === 'none') process.stderr.write(`\nNOT TRIED: instances, since ${reason}\n`)

let running: Running
beforeAll(async () => {
  running = await startCove(newHome(), ['--dns-port', '0'])
})
afterAll(() => running.stop())

const commands = /```sh\n(cove instance create[\s\S]*?)```/
  .exec(readFileSync(projectFile('docs/networking-fabric.md'), 'utf8'))?.[1]
  ?.trim()
  .split('\n')
  .map((line) =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? ''),
  )

const run = (...args: string[]) => cove(running.home, args)

test(`the handbook's instances, in mode ${mode}`, { timeout: 90_000 }, async () => {
  for (const [, ...args] of commands ?? []) {
    const { status, err } = await run(...args)
    if (mode !== 'none') expect(err).toBe('')
    if (mode !== 'none') expect(status).toBe(0)
  }
  if (mode === 'none') {
    const refused = await run('instance', 'exec', '2', '--', 'true')
    expect(refused.err).toContain('has no network on this machine')
    return
  }
  const ping = ['instance', 'exec', '2', '--', 'ping', '-c', '1', '-W', '1', '10.100.0.2']
  expect((await run(...ping)).status).toBe(1)
  expect((await run('instance', 'exec', '2', '--', 'sh', '-c', 'exit 7')).status).toBe(7)

  const serve = "require('http').createServer((q, s) => s.end('still here')).listen(80)"
  const server = spawn(
    process.execPath,
    [launcher, 'instance', 'exec', '1', '--', process.execPath, '-e', serve],
    { env: cleanEnv(running.home), stdio: 'ignore' },
  )
  const ask = () =>
    run(
      'instance',
      'exec',
      '2',
      '--',
      process.execPath,
      '-e',
      "const go = (n) => fetch('http://10.100.0.2/').then((r) => r.text()).then(console.log, (e) => n ? setTimeout(go, 100, n - 1) : console.log(e.message)); go(40)",
    )
  expect((await ask()).out).toBe('still here\n')
  await running.kill()
  running = await startCove(running.home, ['--dns-port', '0'])
  expect((await ask()).out).toBe('still here\n')
  expect((await run(...ping)).status).toBe(1)

  expect((await run('instance', 'delete', '1')).status).toBe(0)
  await new Promise((resolve) =>
    server.exitCode === null ? server.once('exit', resolve) : resolve(0),
  )
  expect((await run('instance', 'list', '--json')).out).not.toContain('"web"')
})
