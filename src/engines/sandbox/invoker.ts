/** Where actions run. The embedded one keeps sandboxes on this machine; another may be far away. */
export interface Invoker {
  /** The kinds it can run now, with what runs them: `nodejs:20` → `node v20.20.2`. */
  kinds(): Promise<Runtime[]>
  /** Run once. Always answers: what the action did wrong is an outcome, not an error. */
  execute(request: ExecRequest): Promise<ExecOutcome>
  /** Make code ready before its first call; an error is what its author should read. */
  prepare(action: Program): Promise<void>
  /** Run build steps over a folder of files, isolated as actions are, and give back the files. */
  build(request: BuildRequest): Promise<BuildOutcome>
  /** End idle sandboxes of an owner's actions, or of one; busy ones end after their call. */
  evict(owner: string, action?: string): void
  stats(): PoolStats
  /** What is in force on this machine. */
  isolation(): Promise<Isolation>
  /** The same without finding out anything: what was found, or what can be expected. */
  outlook(): Pick<Isolation, 'allowed' | 'enforced' | 'reason'>
  start(): Promise<void>
  close(): Promise<void>
}

export interface Runtime {
  kind: string
  /** Names that mean the same: `nodejs:default`. */
  aliases: string[]
  version: string
  /** The one that is meant when an action names none of its family. */
  default: boolean
}

/** What an action runs. */
export interface Program {
  kind: string
  main: string
  binary: boolean
  image?: string
  /** Fingerprint of the code; the code itself is fetched only for a sandbox that lacks it. */
  codeHash: string
  code: () => Promise<string>
}

export interface ExecAction extends Program {
  /** Who calls it. */
  namespace: string
  /** Whose it is. */
  owner: string
  /** `package/name` or `name` */
  name: string
  version: string
  /** Differs whenever anything that a sandbox takes in differs. */
  revision: string
  limits: { timeout: number; memory: number; logs: number }
  /** Environment from parameters with `init: true`. */
  env: Record<string, string>
}

export interface ExecRequest {
  activationId: string
  transactionId: string
  action: ExecAction
  params: unknown
  apiHost: string
  apiKey?: string
}

/** Why it ended as it did, in OpenWhisk's four classes. */
export const statusCodes = {
  success: 0,
  'application error': 1,
  'action developer error': 2,
  'whisk internal error': 3,
} as const
export type Status = keyof typeof statusCodes

/** What went wrong, told apart where the status is the same. */
export type Failure =
  | 'timeout'
  | 'memory'
  | 'init'
  | 'exit'
  | 'answer'
  | 'size'
  | 'image'
  | 'platform'
  | 'busy'

export interface ExecOutcome {
  status: Status
  failure?: Failure
  result: unknown
  /** Bytes of the result as JSON. */
  size: number
  logs: string[]
  /** ms since the epoch */
  start: number
  end: number
  waitTime: number
  /** Only when the sandbox had to take in the code for this call. */
  initTime?: number
}

export interface BuildRequest {
  /** A folder that the build may change. */
  dir: string
  /** Shell commands, run one after the other in the folder. */
  commands: string[]
  timeout: number
}

export interface BuildOutcome {
  code: number
  output: string
}

export interface PoolStats {
  busy: number
  idle: number
  /** Started and without code. */
  ready: number
  queued: number
  /** MB promised to the sandboxes there are, and the most that may be. */
  memory: number
  budget: number
}

export interface Isolation {
  /** Whether actions may run at all. */
  allowed: boolean
  /** Whether everything that was asked is in force. */
  enforced: boolean
  reason?: string
  /** What each part is held by: `memory: cgroup v1`. */
  parts: Record<string, string>
}
