import { availableParallelism } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import { searches } from '../checker/check.ts'
import { type Checked, checkConfig, defaultOut } from './check.ts'
import { describe, describeReplay } from './describe.ts'
import { exitCode, explainError } from './exit-code.ts'
import { writeConfig } from './init.ts'
import { loadConfig, notesOf } from './load-config.ts'
import { abilities } from './machine.ts'
import type { CheckOptions } from './options.ts'
import { runInOwnNamespaces } from './ordinary-user.ts'
import { outcomeOf } from './outcome.ts'
import { showProgress } from './progress.ts'
import { replayTrace } from './replay.ts'
import { timeOf } from './search.ts'
import { shrinkTrace } from './shrink.ts'
import { version } from './version.ts'

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

const duration = (text: string): number => {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('expected a duration such as 60s, 500ms, 5m or 1h.')
  return Number(number) * milliseconds[unit as keyof typeof milliseconds]
}

const wholeNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number.')
  return Number(text)
}

/** All CPUs search, but where the same seed is to give the same executions. */
const workersFor = ({ workers, executions, search }: CheckOptions) =>
  workers ?? (executions === undefined && search !== 'bounded' ? Math.min(availableParallelism(), workersMax) : 1)

const workersMax = 8

const print = (lines: string | readonly string[]) => process.stdout.write(`${[lines].flat().join('\n')}\n`)

/** For a person, or for a program, which then has the reason on stderr. */
const report = ({ verdict, trace }: Checked, json: boolean | undefined) => {
  if (!json) return print(describe(verdict, trace))
  process.stderr.write(`${verdict.message}\n`)
  print(JSON.stringify(outcomeOf(verdict, trace)))
}

const program = (done: (code: number) => void) => {
  const root = new Command('lastnail')
    .description('Checks unmodified multi-process services.')
    .version(version)
    .exitOverride()
    .hook('preAction', runInOwnNamespaces)
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'lastnail: ')) })

  root
    .command('check')
    .description('explores the system of a configuration')
    .argument('<config>', 'a TypeScript or JavaScript file, or a compose file')
    .addOption(new Option('--search <how>', 'what to explore').choices(searches).default('auto'))
    .option('--for <duration>', 'time for the search (60s, unless executions are limited)', duration)
    .option('--executions <n>', 'at most so many executions', wholeNumber)
    .option('--depth <n>', 'of the bounded search', wholeNumber)
    .option('--walk-length <n>', 'of walks that look for a live state', wholeNumber)
    .option(
      '--workers <n>',
      'processes that search (one for each CPU, 8 at most; one where executions are limited)',
      wholeNumber,
    )
    .option('--seed <n>', 'of the search and of the nodes’ randomness', wholeNumber, 1)
    .option('--property <name>', 'checks this property alone')
    .option('--from <trace[:step]>', 'begins each execution with the schedule of a trace')
    .option('--out <directory>', 'where traces are put', defaultOut)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (file: string, { for: forMs, json, ...options }) => {
      const checkOptions: CheckOptions = { milliseconds: forMs, ...options, workers: workersFor(options) }
      const progress = showProgress(timeOf(checkOptions))
      const config = await loadConfig(file)
      for (const note of notesOf(config)) process.stderr.write(`lastnail: ${note}\n`)
      const checked = await checkConfig(config, { ...checkOptions, onProgress: progress.update }).finally(progress.end)
      report(checked, json)
      done(exitCode[checked.verdict.verdict])
    })

  root
    .command('replay')
    .description('executes a trace again')
    .argument('<trace>')
    .option('--to <step>', 'stops after a step', wholeNumber)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { to, json }: { to?: number; json?: boolean }) => {
      const { state, ...replayed } = await replayTrace(path, to)
      print(json ? JSON.stringify(replayed) : describeReplay(replayed, state))
      done(exitCode[replayed.verdict])
    })

  root
    .command('shrink')
    .description('finds the shortest schedule that still violates as a trace does')
    .argument('<trace>')
    .option('--for <duration>', 'time at most; without it, until no step can be dropped', duration)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { for: forMs, json }: { for?: number; json?: boolean }) => {
      const shrunk = await shrinkTrace(path, forMs)
      report(shrunk, json)
      done(exitCode[shrunk.verdict.verdict])
    })

  root
    .command('init')
    .description('writes a configuration for the services of a compose file')
    .argument('<compose>', 'a compose file')
    .action((path: string) => void print(`wrote ${writeConfig(path)}`))

  root
    .command('doctor')
    .description('says what this machine can do')
    .option('--json', 'prints one JSON object as the last line')
    .action(({ json }: { json?: boolean }) => {
      const found = abilities()
      if (json) print(JSON.stringify({ abilities: found }))
      else print(found.map(({ name, isThere, detail }) => `${isThere ? 'has  ' : 'LACKS'} ${name}: ${detail}`))
      done(found.every(({ isNeeded, isThere }) => !isNeeded || isThere) ? exitCode.held : exitCode.machineLacks)
    })
  return root
}

/** Runs the command; gives its exit code. */
export const run = async (args: readonly string[]): Promise<number> => {
  let code: number = exitCode.held
  try {
    await program(value => {
      code = value
    }).parseAsync([...args], { from: 'user' })
    return code
  } catch (error) {
    // The parser has printed its own.
    if (isParserError(error)) return error.exitCode === 0 ? exitCode.held : exitCode.usage
    const { code: failed, lines } = explainError(error)
    for (const line of lines) process.stderr.write(`lastnail: ${line}\n`)
    return failed
  }
}

const isParserError = (error: unknown): error is { exitCode: number } =>
  error instanceof Error && 'code' in error && String(error.code).startsWith('commander.')
