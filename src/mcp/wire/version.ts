import {
  type Client,
  isObject,
  type JsonObject,
  modernVersion,
  RpcError,
  type ServerSpec,
} from '#mcp/protocol.ts'

/** What is known of a client before its request runs. */
export interface Peer {
  version: string
  client: Client
}

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const infoKey = 'io.modelcontextprotocol/clientInfo'
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities'

export const metaOf = (params: JsonObject): JsonObject =>
  isObject(params._meta) ? params._meta : {}

/** The revision a request says it is written in; handshake revisions do not say. */
export const claimedVersion = (params: JsonObject): unknown => metaOf(params)[versionKey]

/** Revisions a client can choose without a handshake. */
export const modernVersions = ({ versions }: ServerSpec): string[] =>
  versions.filter((version) => version === modernVersion)

export const unsupportedVersion = (spec: ServerSpec, requested: string): RpcError => {
  const message = `Protocol version "${requested.slice(0, 40)}" is not served here; choose one of ${spec.versions.join(', ')}.`
  // Newer clients take the code for a server of their own era, and then never try the handshake.
  const supported = modernVersions(spec)
  return supported.length > 0
    ? new RpcError('unsupportedVersion', message, { supported, requested })
    : new RpcError('invalidRequest', message)
}

/** Reads the envelope that every request of 2026-07-28 carries. */
export const readEnvelope = (spec: ServerSpec, params: JsonObject): Peer => {
  const meta = metaOf(params)
  const { [versionKey]: version, [capabilitiesKey]: capabilities, [infoKey]: info } = meta
  if (typeof version !== 'string') throw missing(versionKey, 'a string')
  if (version !== modernVersion || !spec.versions.includes(version))
    throw unsupportedVersion(spec, version)
  if (!isObject(capabilities)) throw missing(capabilitiesKey, 'an object')
  return { version, client: isObject(info) ? { info, capabilities } : { capabilities } }
}

const missing = (key: string, type: string): RpcError =>
  new RpcError('invalidParams', `"params._meta" needs "${key}", ${type}.`)

/** `initialize`: agrees on a handshake revision, the client's when it is served here. */
export const negotiate = (spec: ServerSpec, params: JsonObject): Peer & { result: JsonObject } => {
  const { protocolVersion, capabilities, clientInfo } = params
  if (typeof protocolVersion !== 'string')
    throw new RpcError('invalidParams', '"protocolVersion" has to be a string.')
  const legacy = spec.versions.filter((version) => version !== modernVersion)
  const version = legacy.includes(protocolVersion) ? protocolVersion : legacy[0]
  if (!version) throw unsupportedVersion(spec, protocolVersion)
  const client: Client = { capabilities: isObject(capabilities) ? capabilities : {} }
  if (isObject(clientInfo)) client.info = clientInfo
  const { info: serverInfo, instructions } = spec
  const result = {
    protocolVersion: version,
    capabilities: spec.capabilities,
    serverInfo,
    instructions,
  }
  return { version, client, result }
}
