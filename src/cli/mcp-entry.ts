import { runCommand } from './command.ts'
import { mcp } from './mcp.ts'

/** `cove mcp` by itself: the first thing an assistant loads. Standard output is the protocol's. */
const err = (text: string) => void process.stderr.write(text)

runCommand('mcp', mcp, process.argv.slice(3), {
  env: process.env,
  out:
    process.argv.includes('--help') || process.argv.includes('-h')
      ? (text) => void process.stdout.write(text)
      : err,
  err,
  columns: undefined,
}).then(
  (status) => process.exit(status),
  (error) => {
    err(`${error instanceof Error ? error.message : error}\n`)
    process.exit(2)
  },
)
