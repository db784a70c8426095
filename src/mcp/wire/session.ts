import { isObject, type JsonObject } from '#mcp/protocol.ts'
import type { Seal } from '#mcp/wire/seal.ts'
import type { Peer } from '#mcp/wire/version.ts'

/** What of a client is worth remembering: whether it can be asked, and its name for the record. */
const remembered = ['elicitation', 'sampling', 'roots']
const longestNote = 512

/**
 * A session id is the memory of a handshake, carried by the client: version and capabilities under
 * our seal. The server keeps nothing, so any process that has the key can take the next request.
 */
export const writeSession = (seal: Seal, { version, client }: Peer, principal = ''): string => {
  const capabilities: JsonObject = {}
  for (const name of remembered) {
    const declared = client.capabilities[name]
    if (isObject(declared)) capabilities[name] = short(declared) ?? {}
  }
  return seal.close({
    version,
    capabilities,
    info: short(client.info),
    principal: seal.digest(principal),
    once: crypto.randomUUID(),
  })
}

/** Undefined when the session is not ours, or somebody else's. */
export const readSession = (seal: Seal, text: string, principal = ''): Peer | undefined => {
  const session = seal.open(text)
  if (!session || session.principal !== seal.digest(principal)) return undefined
  const { version, capabilities, info } = session
  if (typeof version !== 'string' || !isObject(capabilities)) return undefined
  return { version, client: isObject(info) ? { info, capabilities } : { capabilities } }
}

/** Headers are short; a client that describes itself at length is remembered without. */
const short = (note: JsonObject | undefined): JsonObject | undefined =>
  note && JSON.stringify(note).length <= longestNote ? note : undefined
