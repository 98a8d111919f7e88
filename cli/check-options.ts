import { type Command, Option } from 'commander'
import { searches } from '../checker/check.ts'
import { UsageError } from '../checker/errors.ts'
import { nearest } from '../harness/config.ts'
import { type CheckOptions, defaultOut } from './options.ts'
import { duration, onOff, wholeNumber } from './values.ts'

/** An option as the command line has it, and as its help describes it. */
interface Described {
  readonly flags: string
  readonly says: string
  readonly parse?: (text: string) => unknown
  readonly choices?: readonly string[]
  readonly default?: string | number
}

/** What a program alone can give: a signal that ends the check, and what is told how far it is. */
type OfPrograms = 'signal' | 'onProgress'

/** The options of a check, by their names in the library. The command, its help and what the library accepts are all made of this table. */
export const checkOptions: Readonly<Record<Exclude<keyof CheckOptions, OfPrograms>, Described>> = {
  search: { flags: '--search <how>', says: 'what to explore', choices: searches, default: 'auto' },
  milliseconds: {
    flags: '--for <duration>',
    says: 'time for the search (60s, unless executions are limited)',
    parse: duration,
  },
  executions: { flags: '--executions <n>', says: 'at most so many executions', parse: wholeNumber },
  depth: { flags: '--depth <n>', says: 'of the bounded search', parse: wholeNumber },
  everyOrder: {
    flags: '--every-order',
    says: 'of the bounded search: every order of steps, also where they commute',
  },
  walkLength: { flags: '--walk-length <n>', says: 'of walks that look for a live state', parse: wholeNumber },
  workers: {
    flags: '--workers <n>',
    says: 'processes that search (one for each CPU, 8 at most, and for 16 executions)',
    parse: wholeNumber,
  },
  seed: { flags: '--seed <n>', says: 'of the search and of the nodes’ randomness', parse: wholeNumber, default: 1 },
  property: { flags: '--property <name>', says: 'checks this property alone' },
  from: { flags: '--from <trace[:step]>', says: 'begins each execution with the schedule of a trace' },
  out: { flags: '--out <directory>', says: 'where traces are put', default: defaultOut },
  rewind: {
    flags: '--rewind <on|off>',
    says: 'whether processes are brought back instead of started anew',
    parse: onOff,
  },
}

const all = Object.entries(checkOptions).map(([name, { flags, says, parse, choices, default: value }]) => {
  const option = new Option(flags, says)
  if (choices) option.choices(choices)
  if (parse) option.argParser(parse)
  if (value !== undefined) option.default(value)
  return { name, option }
})

export const addCheckOptions = (command: Command): Command => {
  for (const { option } of all) command.addOption(option)
  return command
}

/** What the command line gave, by the names of the library. */
export const checkOptionsFrom = (given: Readonly<Record<string, unknown>>): CheckOptions =>
  Object.fromEntries(
    all.flatMap(({ name, option }) => {
      const value = given[option.attributeName()]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const ofPrograms: readonly OfPrograms[] = ['signal', 'onProgress']
const names: readonly string[] = [...Object.keys(checkOptions), ...ofPrograms]

/** @throws UsageError where a program gave an option that there is not */
export const requireCheckOptions = (options: object): void => {
  for (const name of Object.keys(options))
    if (!names.includes(name)) throw new UsageError(`no option "${name}" of a check: ${nearest(name, names)}`)
}
