import { malformed, readQuery, udpLimit, writeAnswer, writeCode } from './message.ts'
import { types } from './rdata.ts'
import { rcodes, resolve } from './resolve.ts'
import type { Zones } from './zones.ts'

const classes = { internet: 1, any: 255 }
/** Types that ask for something else than records: transfers, options, signatures of messages. */
const asksForMore = (type: number): boolean =>
  type === types.OPT || (type >= 128 && type < types.ANY) || type === 0

/** The response to one message, or undefined where none must be sent. */
export const answer = (
  zones: Zones,
  request: Buffer,
  transport: 'udp' | 'tcp',
): Buffer | undefined => {
  if (request.length < 12) return undefined
  const flags = request.readUInt16BE(2)
  if (flags & 0x8000) return undefined // a response: answering it would make a loop
  if ((flags >> 11) & 15) return writeCode(request, undefined, rcodes.notImplemented)
  const query = readQuery(request)
  if (query === malformed) return writeCode(request, undefined, rcodes.malformed)
  if (query.edns && query.edns.version > 0) return writeCode(request, query, rcodes.badVersion)
  if (query.class !== classes.internet && query.class !== classes.any) {
    return writeCode(request, query, rcodes.refused)
  }
  if (asksForMore(query.type)) return writeCode(request, query, rcodes.refused)
  const found = resolve(zones, query.name, query.type)
  if (found.rcode === rcodes.refused) return writeCode(request, query, rcodes.refused)
  return writeAnswer(request, query, found, transport === 'tcp' ? 65_535 : udpLimit(query))
}
