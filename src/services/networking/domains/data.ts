import { ApiError } from '#core/error.ts'
import type { RecordType } from './contract.ts'

interface Given {
  Type: RecordType
  Data: string
}

/**
 * Three types of record have more to say than one value, while the tools carry one: it is read as a
 * zone file writes it.
 */
export const fieldsOf = ({ Type: type, Data: data }: Given) => {
  const words = data.trim().split(/\s+/)
  switch (type) {
    case 'MX': {
      // Without a priority the one host there is comes first.
      const [priority, host] = words.length === 1 ? ['0', words[0]] : words
      if (words.length > 2 || !isShort(priority) || !host)
        throw misread(type, '10 mail.example.com')
      return { type, priority: Number(priority), data: host }
    }
    case 'SRV': {
      const [priority, weight, port, host] = words
      if (words.length !== 4 || ![priority, weight, port].every(isShort) || !host) {
        throw misread(type, '10 5 5060 sip.example.com')
      }
      return {
        type,
        priority: Number(priority),
        weight: Number(weight),
        port: Number(port),
        data: host,
      }
    }
    case 'CAA': {
      const [, flags, tag, value] =
        /^(\d{1,3})\s+(issue|issuewild|iodef)\s+"?([^"]+)"?$/.exec(data.trim()) ?? []
      if (!isTag(tag) || !value) throw misread(type, '0 issue "letsencrypt.org"')
      return { type, flags: Number(flags), tag, data: value }
    }
    default:
      return { type, data }
  }
}

const isShort = (word: string | undefined): boolean => /^\d{1,5}$/.test(word ?? '')

const isTag = (tag: string | undefined): tag is 'issue' | 'issuewild' | 'iodef' => tag !== undefined

const misread = (type: string, example: string): ApiError =>
  ApiError.invalid(`Data of a record with Type ${type} must read like: ${example}`)
