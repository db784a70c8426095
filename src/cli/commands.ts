import type { Command } from './command.ts'

interface Entry {
  about: string
  load(): Promise<Command>
}

/** Every command; its code is loaded when it runs. */
export const commands: Record<string, Entry> = {
  up: { about: 'run Cove here', load: async () => (await import('./up.ts')).up },
  mcp: {
    about: 'serve the tools over stdio, for an assistant',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  status: { about: 'what is running', load: async () => (await import('./status.ts')).status },
  down: { about: 'stop Cove', load: async () => (await import('./down.ts')).down },
  doctor: {
    about: 'what this machine can make real',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  instance: {
    about: 'run programs in instances',
    load: async () => (await import('./instance.ts')).instance,
  },
  tools: {
    about: 'list, describe and call tools',
    load: async () => (await import('./tools.ts')).tools,
  },
  token: {
    about: 'make, list and revoke tokens',
    load: async () => (await import('./token.ts')).token,
  },
  models: {
    about: 'the models that routers and evaluations may use',
    load: async () => (await import('./models.ts')).models,
  },
  routers: {
    about: 'what inference routers did',
    load: async () => (await import('./routers.ts')).routers,
  },
  functions: {
    about: 'deploy a project of functions',
    load: async () => (await import('./functions.ts')).functions,
  },
  console: {
    about: 'a link that opens the console in a browser',
    load: async () => (await import('./console.ts')).consoleCommand,
  },
  audit: {
    about: 'the record of tool calls',
    load: async () => (await import('./audit.ts')).audit,
  },
  kb: {
    about: 'make, search and keep up knowledge bases',
    load: async () => (await import('./kb.ts')).kb,
  },
  agents: {
    about: 'where agents answer',
    load: async () => (await import('./agents.ts')).agents,
  },
  evals: {
    about: 'evaluation runs and reports',
    load: async () => (await import('./evals.ts')).evals,
  },
  engines: {
    about: 'database engines of this machine',
    load: async () => (await import('./engines.ts')).engines,
  },
}
