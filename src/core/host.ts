import { z } from 'zod'

const label = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i
/** Records such as `_dmarc` or `_sip._tcp` begin with an underscore. */
const ownerLabel = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/i

const labelsOf = (name: string): string[] => name.replace(/\.$/, '').split('.')

/** `www.example.com`, with or without the dot at its end. */
export const isHostName = (name: string): boolean =>
  name.length <= 254 && labelsOf(name).every((part) => label.test(part))

/** The name of a record: host names, names with underscores, and `*` as the first label. */
export const isOwnerName = (name: string): boolean =>
  name.length <= 254 &&
  labelsOf(name).every((part, index) => ownerLabel.test(part) || (part === '*' && index === 0))

/** A name one can register: at least two labels, the last not a number. */
export const isDomainName = (name: string): boolean =>
  isHostName(name) && labelsOf(name).length > 1 && !/^\d+$/.test(labelsOf(name).at(-1) ?? '')

export const DomainName = z
  .string()
  .refine(isDomainName, 'must be a domain name such as example.com')
  .transform((name) => name.toLowerCase().replace(/\.$/, ''))

/** A name a certificate may carry: `example.com` or `*.example.com`. */
export const CertificateName = z
  .string()
  .refine(
    (name) => isDomainName(name.replace(/^\*\./, '')),
    'must be a domain name such as example.com or *.example.com',
  )
  .transform((name) => name.toLowerCase().replace(/\.$/, ''))

const address = z.union([z.ipv4(), z.ipv6()])
const block = z.union([z.cidrv4(), z.cidrv6()])

export const isAddress = (value: string): boolean => address.safeParse(value).success

/** `192.0.2.7`, `2001:db8::7`, `192.0.2.0/24` or `2001:db8::/32`. */
export const isAddressOrBlock = (value: string): boolean =>
  isAddress(value) || block.safeParse(value).success

export const AddressOrBlock = z
  .string()
  .refine(isAddressOrBlock, 'must be an IP address or CIDR such as 192.0.2.7 or 192.0.2.0/24')
