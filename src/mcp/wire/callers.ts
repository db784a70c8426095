import { type Auth, modernVersion, RpcError, type ServerSpec } from '#mcp/protocol.ts'
import { checkMirroredHeaders, checkRoutingHeaders, checkVersionHeader } from '#mcp/wire/headers.ts'
import type { RequestMessage } from '#mcp/wire/message.ts'
import type { Seal } from '#mcp/wire/seal.ts'
import { readSession } from '#mcp/wire/session.ts'
import {
  claimedVersion,
  negotiate,
  type Peer,
  readEnvelope,
  unsupportedVersion,
} from '#mcp/wire/version.ts'

/** What one POST says about its sender, beside the messages in it. */
export interface Sender {
  headers: Headers
  auth: Auth | undefined
  /** The header `Mcp-Protocol-Version`. */
  stated: string | null
  sessionId: string | null
}

/** A session id that is not ours, or no longer. */
export class UnknownSession extends RpcError {
  constructor() {
    super('invalidRequest', 'This session is unknown here; send "initialize" again.')
  }
}

/** What a client that names no revision speaks. */
const unnamed: Peer = { version: '2025-03-26', client: { capabilities: {} } }

const mostOpened = 1000

/** Finds out who sends a message over HTTP and in which revision. */
export const callerReader = (spec: ServerSpec, seal: Seal) => {
  const servesModern = spec.versions.includes(modernVersion)

  /** Opening a seal costs as much as the rest of a small request; forgetting costs only that. */
  const opened = new Map<string, Peer>()

  const session = ({ sessionId, auth }: Sender): Peer | undefined => {
    if (sessionId === null) return undefined
    const key = `${sessionId} ${auth?.principal ?? ''}`
    const peer = opened.get(key) ?? readSession(seal, sessionId, auth?.principal)
    if (!peer) throw new UnknownSession()
    if (opened.size >= mostOpened) opened.clear()
    opened.set(key, peer)
    return peer
  }

  /** In the handshake revisions a header names the version, and the session remembers the client. */
  const legacy = (sender: Sender): Peer => {
    const { stated } = sender
    if (stated !== null && !spec.versions.includes(stated)) throw unsupportedVersion(spec, stated)
    const peer = session(sender) ?? unnamed
    return stated === null ? peer : { ...peer, version: stated }
  }

  const ofRequest = (sender: Sender, { method, params }: RequestMessage): Peer => {
    const claimed = claimedVersion(params)
    const modern =
      claimed !== undefined || sender.stated === modernVersion || method === 'server/discover'
    if (!modern || !servesModern)
      return method === 'initialize' ? negotiate(spec, params) : legacy(sender)
    if (typeof claimed === 'string') checkVersionHeader(sender.headers, claimed)
    const peer = readEnvelope(spec, params)
    checkRoutingHeaders(sender.headers, method, params)
    if (spec.mirrored) checkMirroredHeaders(sender.headers, spec.mirrored(method, params))
    return peer
  }

  return { ofRequest, legacy }
}
