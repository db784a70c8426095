import { serveStdio } from '#mcp/stdio.ts'
import { echoServer } from './echo.ts'

/** The echo server as a program, for clients that spawn one. */
const stop = new AbortController()
process.once('SIGTERM', () => stop.abort())
serveStdio(echoServer().spec, {
  input: process.stdin,
  output: process.stdout,
  signal: stop.signal,
}).then(() => process.exit(0))
