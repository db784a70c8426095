import { type Setting, type SettingName, settings } from './settings.ts'
import { type Parsed, parseSettings } from './values.ts'

export interface Terminal {
  env: NodeJS.ProcessEnv
  out(text: string): void
  err(text: string): void
  /** Columns, where it is a terminal that a person looks at. */
  columns: number | undefined
}

/** A command of the shell: described once, helped by the description. */
export interface Command {
  /** What it does, in a line. */
  readonly about: string
  /** What follows its name, for example `create NAME`. */
  readonly usage: string
  readonly examples: readonly string[]
  readonly settings: readonly SettingName[]
  run(parsed: Parsed<SettingName>, terminal: Terminal): Promise<number | undefined>
}

export const command = <N extends SettingName>(
  spec: Omit<Command, 'run' | 'settings'> & {
    settings: readonly N[]
    /** The exit status; nothing means success. */
    run: (parsed: Parsed<N>, terminal: Terminal) => Promise<number | undefined>
  },
): Command => spec as unknown as Command

export const runCommand = async (
  name: string,
  spec: Command,
  argv: readonly string[],
  terminal: Terminal,
): Promise<number> => {
  if (argv.includes('--help') || argv.includes('-h')) {
    terminal.out(helpOf(name, spec))
    return 0
  }
  const parsed = parseSettings(spec.settings, argv, terminal.env)
  return (await spec.run(parsed, terminal)) ?? 0
}

const helpOf = (name: string, spec: Command): string => {
  const rows = [...new Set<SettingName>([...spec.settings, 'home', 'help'])].map((option) => {
    const setting: Setting = settings[option]
    const short = setting.short ? `-${setting.short}, ` : ''
    const value = setting.value ? ` ${setting.value}` : ''
    const env = setting.env ? ` [${setting.env.join(', ')}]` : ''
    const preset = setting.default === undefined ? '' : ` (default ${setting.default})`
    return [`${short}--${option}${value}`, `${setting.about}${preset}${env}`] as const
  })
  const width = Math.max(...rows.map(([flag]) => flag.length))
  return [
    `${spec.about}`,
    '',
    `Usage: cove ${[name, spec.usage, '[options]'].filter(Boolean).join(' ')}`,
    '',
    'Options:',
    ...rows.map(([flag, about]) => `  ${flag.padEnd(width)}  ${about}`),
    '',
    'Examples:',
    ...spec.examples.map((example) => `  ${example}`),
    '',
  ].join('\n')
}
