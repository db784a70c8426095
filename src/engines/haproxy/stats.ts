import type { TargetHealth } from './model.ts'
import { targetOf } from './render.ts'

/** Column of the state in what `show stat` prints, behind backend and server. */
const stateColumn = 15

/** How the targets of a balancer are, by what `show stat` prints. */
export const healthIn = (stats: string, id: string): TargetHealth[] =>
  rowsOf(stats).flatMap(({ backend, server, state }) => {
    const [, owner, port] = /^[bu]\.(.+)\.(\d+)$/.exec(backend) ?? []
    if (owner !== id || server === 'BACKEND') return []
    return [{ target: targetOf(server), port: Number(port), up: state.startsWith('UP') }]
  })

/** Targets that are down, by backend. */
export const downIn = (stats: string): Map<string, Set<string>> => {
  const down = new Map<string, Set<string>>()
  for (const { backend, server, state } of rowsOf(stats)) {
    if (!state.startsWith('DOWN')) continue
    down.set(backend, (down.get(backend) ?? new Set()).add(targetOf(server)))
  }
  return down
}

const rowsOf = (stats: string) =>
  stats.split('\n').map((line) => {
    const [backend = '', server = '', ...columns] = line.split(',')
    return { backend, server, state: columns[stateColumn] ?? '' }
  })

/** What is known to be down stays down in a new process; the rest it finds out itself. */
export const whatIsDown = (states: string): string =>
  states
    .split('\n')
    .filter((line, index) => {
      const [, , , , , operation, admin] = line.split(' ')
      return index < 2 || (operation === '0' && admin === '0')
    })
    .join('\n')
    .concat('\n')
