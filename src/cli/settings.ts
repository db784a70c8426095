/** Every setting of Cove, said once: its flag, its environment names and its key in config.json. */
export interface Setting {
  kind: 'text' | 'number' | 'flag' | 'list' | 'object'
  about: string
  /** What stands for the value in `--help`. */
  value?: string
  /** Environment names, the first that is set wins. */
  env?: readonly string[]
  short?: string
  choices?: readonly string[]
  min?: number
  max?: number
  default?: string | number | boolean
  /** May not be in config.json. */
  flagOnly?: true
}

const define = <const T extends Record<string, Setting>>(table: T): T => table

export const settings = define({
  home: {
    kind: 'text',
    value: 'DIR',
    env: ['COVE_HOME'],
    about: 'where Cove keeps its data (default ~/.cove)',
    flagOnly: true,
  },
  host: {
    kind: 'text',
    value: 'ADDRESS',
    default: '127.0.0.1',
    about: 'address to listen on',
  },
  port: {
    kind: 'number',
    value: 'N',
    env: ['PORT'],
    min: 0,
    max: 65535,
    default: 8787,
    about: 'port to listen on; 0 takes a free one',
  },
  'allow-host': {
    kind: 'list',
    value: 'NAMES',
    about: 'further Host names to answer to, comma-separated',
  },
  'allow-origin': {
    kind: 'list',
    value: 'ORIGINS',
    about: 'web origins whose pages may call, comma-separated',
  },
  token: {
    kind: 'text',
    value: 'TEXT',
    env: ['COVE_TOKEN'],
    about: "the owner's token (default: kept in COVE_HOME/token, made once)",
    flagOnly: true,
  },
  services: {
    kind: 'list',
    value: 'NAMES',
    env: ['SERVICES'],
    about: 'services whose tools to offer, comma-separated (default all)',
  },
  tools: {
    kind: 'list',
    value: 'NAMES',
    env: ['COVE_TOOLS'],
    about: 'only these tools, comma-separated',
  },
  'exclude-tools': {
    kind: 'list',
    value: 'NAMES',
    env: ['COVE_EXCLUDE_TOOLS'],
    about: 'not these tools, comma-separated',
  },
  'read-only': {
    kind: 'flag',
    env: ['COVE_READ_ONLY'],
    about: 'offer and run only tools that change nothing; wins over everything',
  },
  confirm: {
    kind: 'text',
    value: 'WHEN',
    env: ['COVE_CONFIRM'],
    choices: ['always', 'destructive', 'never'],
    default: 'destructive',
    about: 'when to ask the person first, where the client can ask',
  },
  'answer-limit': {
    kind: 'number',
    value: 'BYTES',
    env: ['COVE_ANSWER_LIMIT'],
    min: 1000,
    default: 100_000,
    about: 'longer answers of tools are cut at an item boundary',
  },
  'api-url': {
    kind: 'text',
    value: 'URL',
    env: ['COVE_API_URL', 'DIGITALOCEAN_API_ENDPOINT'],
    about: 'a v2 API to drive instead of the cloud on this machine',
  },
  'api-token': {
    kind: 'text',
    value: 'TEXT',
    env: ['COVE_API_TOKEN', 'DIGITALOCEAN_API_TOKEN'],
    about: 'token for that API; better given by COVE_API_TOKEN than on the command line',
    flagOnly: true,
  },
  'database-url': {
    kind: 'text',
    value: 'URL',
    env: ['DATABASE_URL'],
    about:
      'PostgreSQL to keep the records in, shared by several Coves (default: SQLite in COVE_HOME)',
  },
  'rate-limit': {
    kind: 'text',
    value: 'N|off',
    env: ['COVE_RATE_LIMIT'],
    default: '6000',
    about: 'requests a minute that one token may make',
  },
  fabric: {
    kind: 'text',
    value: 'MODE',
    env: ['COVE_FABRIC'],
    choices: ['auto', 'root', 'rootless', 'none'],
    default: 'auto',
    about: 'how instances get networks of their own: as root, in user namespaces, or not at all',
  },
  'dns-host': {
    kind: 'text',
    value: 'ADDRESS',
    env: ['COVE_DNS_HOST'],
    default: '127.0.0.1',
    about: 'address on which domains are answered',
  },
  'dns-port': {
    kind: 'number',
    value: 'N',
    env: ['COVE_DNS_PORT'],
    min: 0,
    max: 65535,
    about: 'port on which domains are answered (default 53, or a free one when 53 is taken)',
  },
  'functions-isolation': {
    kind: 'text',
    value: 'HOW',
    env: ['COVE_FUNCTIONS_ISOLATION'],
    choices: ['required', 'best-effort'],
    default: 'required',
    about: 'refuse functions that cannot be isolated, or run them all the same',
  },
  'functions-network': {
    kind: 'text',
    value: 'WHAT',
    env: ['COVE_FUNCTIONS_NETWORK'],
    choices: ['public', 'none'],
    default: 'public',
    about: 'what functions may reach: the public internet, or nothing',
  },
  'functions-memory': {
    kind: 'number',
    value: 'MB',
    env: ['COVE_FUNCTIONS_MEMORY'],
    min: 256,
    about: "memory for all functions together (default half of the machine's)",
  },
  'functions-retention': {
    kind: 'number',
    value: 'HOURS',
    env: ['COVE_FUNCTIONS_RETENTION'],
    min: 1,
    default: 72,
    about: 'how long activations are kept',
  },
  'acme-directory': {
    kind: 'text',
    value: 'URL',
    env: ['COVE_ACME_DIRECTORY'],
    about: "ACME server that issues certificates (default: Cove's own authority)",
  },
  'acme-contact': {
    kind: 'text',
    value: 'MAIL',
    env: ['COVE_ACME_CONTACT'],
    about: 'address that the ACME server may write to',
  },
  'acme-trust': {
    kind: 'text',
    value: 'FILE',
    env: ['COVE_ACME_TRUST'],
    about: 'certificates to trust for the ACME server itself, in PEM form',
  },
  providers: {
    kind: 'object',
    value: 'JSON',
    about: 'OpenAI-compatible model providers by name, as in docs/inference-routers.md',
  },
  'base-url': {
    kind: 'text',
    value: 'URL',
    about: 'where an OpenAI-compatible API answers, for example http://127.0.0.1:11434/v1',
    flagOnly: true,
  },
  'api-key-env': {
    kind: 'text',
    value: 'NAME',
    about: 'environment variable of the running Cove that holds the key; the key is not kept',
    flagOnly: true,
  },
  model: {
    kind: 'list',
    value: 'ID',
    about: 'a model; may be given several times',
    flagOnly: true,
  },
  'price-in': {
    kind: 'text',
    value: 'USD',
    about: 'price of a million tokens sent',
    flagOnly: true,
  },
  'price-out': {
    kind: 'text',
    value: 'USD',
    about: 'price of a million tokens answered',
    flagOnly: true,
  },
  'context-window': {
    kind: 'number',
    value: 'TOKENS',
    min: 1,
    about: 'the longest prompt and answer together',
    flagOnly: true,
  },
  'max-concurrency': {
    kind: 'number',
    value: 'N',
    min: 1,
    about: 'requests to the model under way at once',
    flagOnly: true,
  },
  namespace: {
    kind: 'text',
    value: 'ID',
    about: 'functions namespace (default: the only one there is)',
    flagOnly: true,
  },
  'remote-build': {
    kind: 'flag',
    about: 'let Cove build the functions, isolated as functions are',
    flagOnly: true,
  },
  include: {
    kind: 'list',
    value: 'NAMES',
    about: 'only these packages or package/functions, comma-separated',
    flagOnly: true,
  },
  'any-port': {
    kind: 'flag',
    about: 'take a free port when the chosen one is taken',
    flagOnly: true,
  },
  name: { kind: 'text', value: 'NAME', about: 'a name to know it by', flagOnly: true },
  scopes: {
    kind: 'list',
    value: 'SCOPES',
    about: 'what the token may do, comma-separated, for example account:read,database:write',
    flagOnly: true,
  },
  'expires-in': {
    kind: 'text',
    value: 'TIME',
    about: 'how long it is valid, for example 30m, 24h or 7d (default: until revoked)',
    flagOnly: true,
  },
  follow: { kind: 'flag', short: 'f', about: 'go on showing what comes', flagOnly: true },
  limit: {
    kind: 'number',
    value: 'N',
    min: 1,
    max: 1000,
    default: 100,
    about: 'how many to show',
    flagOnly: true,
  },
  alpha: {
    kind: 'text',
    value: 'NUMBER',
    about: '0 searches by keyword, 1 by meaning, between by both (default 0.5)',
    flagOnly: true,
  },
  filter: {
    kind: 'text',
    value: 'JSON',
    about: 'only what matches these metadata filters',
    flagOnly: true,
  },
  results: {
    kind: 'number',
    value: 'N',
    min: 1,
    max: 25,
    default: 5,
    about: 'how many results to show',
    flagOnly: true,
  },
  meta: {
    kind: 'list',
    value: 'FIELDS',
    about: 'fields that every chunk gets, comma-separated, for example team=platform,year=2026',
    flagOnly: true,
  },
  'embed-url': {
    kind: 'text',
    value: 'URL',
    about: 'an OpenAI-compatible server that embeds, up to /v1 (default: the built-in model)',
    flagOnly: true,
  },
  'embed-model': {
    kind: 'text',
    value: 'ID',
    about: 'the embedding model of that server',
    flagOnly: true,
  },
  'embed-key-env': {
    kind: 'text',
    value: 'VAR',
    about: "environment variable of Cove's server that holds the key for it",
    flagOnly: true,
  },
  workspace: { kind: 'text', value: 'NAME', about: 'the agent workspace', flagOnly: true },
  plain: {
    kind: 'flag',
    about: 'the address takes the query object itself, not the OpenAI API',
    flagOnly: true,
  },
  html: { kind: 'flag', about: 'print one self-contained page', flagOnly: true },
  csv: { kind: 'flag', about: 'print CSV, one line a prompt', flagOnly: true },
  compare: { kind: 'text', value: 'RUN', about: 'another run to compare with', flagOnly: true },
  output: { kind: 'text', value: 'FILE', about: 'write to a file', flagOnly: true },
  'max-cost': { kind: 'text', value: 'USD', about: 'what the run may cost in all', flagOnly: true },
  json: { kind: 'flag', about: 'print JSON', flagOnly: true },
  help: { kind: 'flag', short: 'h', about: 'show this help', flagOnly: true },
})

export type SettingName = keyof typeof settings

/** Environment names that Cove knows besides those of settings. */
const otherNames = ['COVE_SKIP_APT', 'COVE_BENCH_CACHE']

/** Names that look like ours and are not: a misspelt setting must not be ignored. */
export const unknownEnvironment = (env: NodeJS.ProcessEnv): string[] => {
  const known = new Set([
    ...otherNames,
    ...Object.values(settings).flatMap((s: Setting) => s.env ?? []),
  ])
  return Object.keys(env).filter((name) => name.startsWith('COVE_') && !known.has(name))
}
