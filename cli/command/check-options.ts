import { type Command, Option } from 'commander'
import { searches } from '../../checker/check.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { nearest } from '../../harness/config/config.ts'
import { type CheckOptions, defaultOut } from './options.ts'
import { duration, onOff, wholeNumber } from './values.ts'

/** An option of the command line and its help text. */
interface Described {
  readonly flags: string
  readonly says: string
  readonly parse?: (text: string) => unknown
  readonly choices?: readonly string[]
  readonly default?: string | number
}

/** Options that only a program can give: a signal that ends the check, a callback for progress, how much is examined. */
type OfPrograms = 'signal' | 'onProgress' | 'examinationMs' | 'recordingMs' | 'leavesExamination' | 'leavesExplanation'

/**
 * The options of a check, by their names in the library. The command, its help and the library's validation are all
 * made from this table.
 */
export const checkOptions: Readonly<Record<Exclude<keyof CheckOptions, OfPrograms>, Described>> = {
  search: { flags: '--search <how>', says: 'what to explore', choices: searches, default: 'auto' },
  milliseconds: {
    flags: '--for <duration>',
    says: 'time to search, and to examine what is found (60s, unless executions are limited)',
    parse: duration,
  },
  executions: { flags: '--executions <n>', says: 'limit on executions', parse: wholeNumber },
  depth: { flags: '--depth <n>', says: 'depth limit of the bounded search, in steps', parse: wholeNumber },
  everyOrder: {
    flags: '--every-order',
    says: 'makes the bounded search execute every order of steps, even of steps that commute',
  },
  walkLength: {
    flags: '--walk-length <n>',
    says: 'length of walks that look for a live state, in steps',
    parse: wholeNumber,
  },
  workers: {
    flags: '--workers <n>',
    says: 'processes that search (one for each CPU, at most 8, and at most one for 16 executions)',
    parse: wholeNumber,
  },
  seed: {
    flags: '--seed <n>',
    says: 'seed of the search and of the nodes’ random numbers',
    parse: wholeNumber,
    default: 1,
  },
  property: {
    flags: '--property <name>',
    says: 'checks only this property: crashes and divergences end an execution, and are counted',
  },
  from: { flags: '--from <trace[:step]>', says: 'begins each execution with the schedule of a trace' },
  out: { flags: '--out <directory>', says: 'directory for traces', default: defaultOut },
  rewind: {
    flags: '--rewind <on|off>',
    says: 'whether processes are rewound instead of started again',
    parse: onOff,
  },
}

type Name = keyof typeof checkOptions

/** The same option for another command, which may say it in its own words. */
export const checkOption = (name: Name, says = checkOptions[name].says): Option => {
  const { flags, parse, choices, default: value } = checkOptions[name]
  const option = new Option(flags, says)
  if (choices) option.choices(choices)
  if (parse) option.argParser(parse)
  if (value !== undefined) option.default(value)
  return option
}

const all = (Object.keys(checkOptions) as Name[]).map(name => ({ name, option: checkOption(name) }))

export const addCheckOptions = (command: Command): Command => {
  for (const { option } of all) command.addOption(option)
  return command
}

/** The options given on the command line, by their names in the library. */
export const checkOptionsFrom = (given: Readonly<Record<string, unknown>>): CheckOptions =>
  Object.fromEntries(
    all.flatMap(({ name, option }) => {
      const value = given[option.attributeName()]
      return value === undefined ? [] : [[name, value]]
    }),
  )

const ofPrograms: readonly OfPrograms[] = [
  'signal',
  'onProgress',
  'examinationMs',
  'recordingMs',
  'leavesExamination',
  'leavesExplanation',
]
const names: readonly string[] = [...Object.keys(checkOptions), ...ofPrograms]

/** @throws UsageError for an unknown option */
export const requireCheckOptions = (options: object): void => {
  for (const name of Object.keys(options))
    if (!names.includes(name)) throw new UsageError(`no option "${name}" of a check: ${nearest(name, names)}`)
}
