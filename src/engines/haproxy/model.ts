/** A load balancer as the driver takes it: everything resolved, nothing to look up. */
export interface Balancer {
  id: string
  /** The address it listens on, its own. */
  address: string
  listeners: Listener[]
  targets: Target[]
  health: Health
  /** Clients stay with their target for so many seconds by a cookie of this name. */
  sticky?: { cookie: string; seconds: number }
  leastConnections: boolean
  redirectToHttps: boolean
  proxyProtocol: boolean
  keepalive: boolean
  idleSeconds: number
  /** Addresses and networks; with `allow` everybody else stays out. */
  allow: string[]
  deny: string[]
  strongCiphers: boolean
  mostConnections: number
  global?: Global
}

export interface Listener {
  protocol: 'http' | 'https' | 'http2' | 'http3' | 'tcp' | 'udp'
  port: number
  targetProtocol: 'http' | 'https' | 'http2' | 'tcp' | 'udp'
  targetPort: number
  passthrough: boolean
  certificates: KeyPair[]
}

/** A certificate with its chain and key, all in PEM form. */
export interface KeyPair {
  id: string
  pem: string
}

export interface Target {
  id: string
  address: string
}

export interface Health {
  protocol: 'http' | 'https' | 'tcp'
  port: number
  path: string
  interval: number
  timeout: number
  fall: number
  rise: number
}

/** What makes a balancer global: it stands before regional ones, in an order of preference. */
export interface Global {
  protocol: 'http' | 'https' | 'http2'
  port: number
  cached: boolean
  /** Percent of failed targets at which a regional balancer is passed over. */
  threshold: number
  /** The most preferred first; those of one level share the traffic. */
  levels: Regional[][]
}

export interface Regional {
  id: string
  address: string
  targets: number
}

/** Whether what was asked is in force. */
export type Applied = { enforced: true; reason?: string } | { enforced: false; reason: string }

export interface TargetHealth {
  target: string
  port: number
  up: boolean
}
