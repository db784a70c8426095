import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { bundle } from '../../../test/bundle.ts'
import { changesIn, noted } from '../../../test/fabric/changer.ts'
import { kernelState } from '../../../test/fabric/kernel-state.ts'
import { type LabMode, labModes, spawnOf } from '../../../test/fabric/lab.ts'
import { createFabric } from './fabric.ts'

/** Killed again and again while it changes the network; each start must find its way. */
const modes = await labModes()

test.each(modes.impossible)('mode $mode COULD NOT BE TRIED here: $reason', ({ reason }) => {
  expect(reason).not.toBe('')
})

const kills = { root: 50, rootless: 12 }

describe.each(modes.possible)('in mode %s', (mode: LabMode) => {
  const title = `after each of ${kills[mode]} kills the kernel has what was asked for`
  test(title, { timeout: 240_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cove-crash-'))
    const notes = join(folder, 'notes')
    const owner = `crash-${mode}-${process.pid}`
    const program = await bundle('test/fabric/changer.ts', folder)
    const open = (label: string) =>
      createFabric({ owner: label, mode, spawn: spawnOf(mode), log: () => {} })

    /** A network that was never interrupted, kept up with the notes. */
    const calm = open(`${owner}-calm`)
    await calm.start({})
    let known = 0
    const same = async () => {
      const changes = changesIn(notes)
      await Promise.all(changes.slice(known).map((change) => calm.change(change)))
      known = changes.length
      const [found, wanted] = await Promise.all([
        kernelState(owner, mode),
        kernelState(`${owner}-calm`, mode),
      ])
      expect(found).toEqual(wanted)
    }

    let checked = 0
    for (let round = 0; round < kills[mode]; round++) {
      const child = spawn(process.execPath, [program.file, mode, owner, notes], {
        env: program.env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const ended = once(child, 'exit')
      if (round % 5 === 4) {
        await sleep(Math.random() * 300) // It is killed while it starts.
      } else {
        await once(child.stdout, 'data')
        if (round > 0) {
          await same()
          checked++
        }
        child.stdin.write('go\n')
        await sleep(20 + Math.random() * 180)
      }
      child.kill('SIGKILL')
      await ended
    }
    const last = open(owner)
    await last.start(noted(notes))
    await same()
    await Promise.all([last.close(), calm.close()])
    expect(await kernelState(owner, mode)).toEqual({ holders: 0 })
    expect(checked).toBeGreaterThan(kills[mode] / 2)
    rmSync(folder, { recursive: true })
  })
})
