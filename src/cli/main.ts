import { ApiError } from '#core/error.ts'
import { version } from '#version.ts'
import { runCommand, type Terminal } from './command.ts'
import { commands } from './commands.ts'
import { lockedStatus } from './daemon.ts'
import { UsageError } from './values.ts'

/** Runs a command line; the exit status is 0, 1 for a failure and 2 for a mistake in the call. */
const main = async (argv: readonly string[], terminal: Terminal): Promise<number> => {
  const [name, ...rest] = argv
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    terminal.out(overview())
    return 0
  }
  if (name === 'version' || name === '--version') {
    terminal.out(`${version}\n`)
    return 0
  }
  try {
    const entry = commands[name]
    if (!entry)
      throw new UsageError(
        `There is no command "${name}". Valid: ${Object.keys(commands).join(', ')}.`,
      )
    return await runCommand(name, await entry.load(), rest, terminal)
  } catch (error) {
    return tell(error, terminal)
  }
}

const tell = (error: unknown, { err }: Terminal): number => {
  if (error instanceof UsageError) {
    err(`${error.message}\n`)
    return error.message.startsWith('A Cove is already running') ? lockedStatus : 2
  }
  if (error instanceof ApiError) {
    err(`${error.message}\n`)
    return 1
  }
  err(`${error instanceof Error ? error.message : error}\n`)
  return 1
}

const overview = (): string =>
  [
    'Cove: a cloud as tools for AI assistants, with a real cloud behind the tools.',
    '',
    'Usage: cove COMMAND [options]',
    '',
    'Commands:',
    ...Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`),
    '',
    'Examples:',
    '  cove up                                   run the cloud on this machine',
    '  claude mcp add cove -- cove mcp           connect an assistant',
    '  cove tools call account-get-information   call a tool from the shell',
    '',
    '"cove COMMAND --help" tells more.',
    '',
  ].join('\n')

const status = await main(process.argv.slice(2), {
  env: process.env,
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  columns: process.stdout.columns,
})
// Nothing that was half begun may keep a failed command alive.
process.exit(status)
