import type { Places, Section } from './parts.ts'

export interface Sockets {
  master: string
  runtime: string
}

/** Connections of the whole process; each balancer has its own bound below this one. */
const mostConnections = 100_000

const preamble = (places: Places, sockets: Sockets): string[] => [
  'global',
  `  stats socket ${sockets.runtime} mode 600 level admin expose-fd listeners`,
  `  maxconn ${mostConnections}`,
  '  no strict-limits',
  // Connections that outlive a reload this long are cut with the old process.
  '  hard-stop-after 300s',
  `  server-state-file ${stateFile(places)}`,
  '  tune.ssl.default-dh-param 2048',
  'defaults',
  '  mode tcp',
  '  timeout connect 5s',
  '  timeout client 300s',
  '  timeout server 300s',
  '  timeout tunnel 1h',
  '  timeout http-keep-alive 60s',
  // A target that does not answer costs a client nothing while another one does.
  '  option redispatch 1',
  '  retries 3',
  // A client that reuses a connection just as a reload ends it would lose its request.
  '  option idle-close-on-response',
  '  load-server-state-from-file global',
]

export const stateFile = (places: Places): string => `${places.home}/server-state`

/** The configuration without its servers: what only a reload can change. */
export const shapeOf = (places: Places, sockets: Sockets, sections: readonly Section[]): string =>
  [...preamble(places, sockets), ...sections.map((section) => section.shape)].join('\n')

/** The whole configuration file. */
export const textOf = (places: Places, sockets: Sockets, sections: readonly Section[]): string =>
  `${[...preamble(places, sockets), ...sections.map((section) => section.text)].join('\n')}\n`
