import type { Node, Release } from '../local/engine.ts'

/** The PostgreSQL database that keeps the documents; a document database is a schema in it. */
const database = 'documents'

/** The same node seen as the PostgreSQL inside: on its socket only, with nobody's settings. */
export const documents =
  (releases: () => Promise<Release[]>) =>
  async (node: Node): Promise<Node> => {
    const [release] = await releases()
    if (!release) throw new Error('PostgreSQL, which keeps the documents, was not found.')
    const { slow_op_threshold_ms: slow } = node.cluster.settings
    return {
      ...node,
      release,
      host: '',
      role: 'primary',
      cluster: {
        ...node.cluster,
        database,
        settings: slow === undefined ? {} : { log_min_duration_statement: slow },
      },
    }
  }
