import { projectFile } from '#core/built.ts'

export interface ConnectFacts {
  url: string
  home: string
  version: string
  tokenFromEnv: boolean
  /** Signs a browser in, once. */
  link: string
}

/** What a person needs after the start: where it is and how an assistant gets to it. */
export const connectText = ({ url, home, version, tokenFromEnv, link }: ConnectFacts): string => {
  const launcher = projectFile('bin/cove.cjs')
  const config = { mcpServers: { cove: { command: 'node', args: [launcher, 'mcp'] } } }
  const token = tokenFromEnv ? 'COVE_TOKEN' : `${home}/token`
  return `Cove ${version} is running at ${url}

See it in a browser: ${link}
(works once, for ten minutes; "cove console" makes another)

Connect an assistant
  Claude Code    claude mcp add cove -- node ${launcher} mcp
  Claude Desktop, Cursor, Windsurf and others: put this into their MCP settings
${indent(JSON.stringify(config, null, 2), 4)}
  VS Code        code --add-mcp '${JSON.stringify({ name: 'cove', command: 'node', args: [launcher, 'mcp'] })}'
  Any client     ${url}/mcp with the header "Authorization: Bearer <token>"

The token is in ${token}. The API is at ${url}/v2. Ctrl-C stops Cove.
`
}

const indent = (text: string, by: number): string => text.replace(/^/gm, ' '.repeat(by))
