/** A record as the DNS server takes it; names are absolute and written without the dot at the end. */
export interface ZoneRecord {
  /** `www.example.com`, `*.example.com` or `example.com` itself. */
  name: string
  type: string
  ttl: number
  /** An address, a host name, or the strings of a TXT record. */
  data: string | string[]
  priority?: number
  weight?: number
  port?: number
  flags?: number
  tag?: string
}

export interface Zone {
  name: string
  serial: number
  /** Seconds for which a negative answer may be remembered. */
  negativeTtl: number
  primary: string
  contact: string
  records: ZoneRecord[]
}

/** All records of one name, or none any more. */
export interface NameChange {
  zone: string
  serial: number
  name: string
  records: ZoneRecord[]
}
