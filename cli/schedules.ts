import type { Command } from 'commander'
import type { Tried } from '../campaign/bisect.ts'
import type { Kept } from '../campaign/schedules/corpus.ts'
import { exitCode } from './exit-code.ts'
import { keepAsTest, keepSchedule } from './keep.ts'
import { defaultOut } from './options.ts'
import { print } from './print.ts'
import { statusLine } from './progress.ts'
import { duration, wholeNumber } from './values.ts'

/** The commands about schedules that are kept in a repository. */
export const addScheduleCommands = (root: Command, done: (code: number) => void): void => {
  root
    .command('keep')
    .description('keeps the violation of a trace as a schedule, which regress executes on later builds')
    .argument('<trace>')
    .option('--out <directory>', 'where it is put (schedules/, beside the configuration); with --test a file')
    .option('--test', 'writes a test of vitest instead, which fails while the violation is there')
    .action(
      async (path: string, { out, test }: { out?: string; test?: boolean }) =>
        void print(test ? keepAsTest(path, out) : describeKept(await keepSchedule(path, out))),
    )

  root
    .command('regress')
    .description('executes kept schedules on the present build')
    .argument('[schedules]', 'a directory of schedules, or one of them', 'schedules')
    .option('--config <file>', 'instead of the configuration that the schedules name')
    .option('--executions <n>', 'at most, for a schedule of which a step is not on offer as it was', wholeNumber, 32)
    .option('--update', 'writes schedules that had to be adapted as they were executed')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { json, ...options }: RegressArguments) => {
      const { describeRegressed, regress } = await import('./regress.ts')
      const line = statusLine()
      const onSchedule = (file: string, ordinal: number, of: number) => line.update(`${ordinal} of ${of}: ${file}`)
      const schedules = await regress(path, { ...options, onSchedule }).finally(line.end)
      print(json ? JSON.stringify({ schedules }) : describeRegressed(schedules))
      const codes = schedules.map(({ outcome }) => codeOf[outcome])
      done([exitCode.violated, exitCode.undetermined].find(code => codes.includes(code)) ?? exitCode.held)
    })

  root
    .command('bisect')
    .description('finds the first commit on which a kept schedule fails, in a worktree of its own')
    .argument('<schedule>')
    .requiredOption('--good <revision>', 'on which it passes')
    .option('--bad <revision>', 'on which it fails', 'HEAD')
    .option('--build <command>', 'of the shell, in each checkout; commits that it fails on are skipped')
    .option('--executions <n>', 'at most, where a step is not on offer as it was', wholeNumber, 32)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { json, ...options }: BisectArguments) => {
      const { bisectSchedule, describeBisected, describeTriedCommit } = await import('./bisect.ts')
      const onTried = (tried: Tried) => void process.stderr.write(`lastnail: ${describeTriedCommit(tried)}\n`)
      const found = await bisectSchedule(path, { ...options, onTried })
      print(json ? JSON.stringify(found) : describeBisected(found))
      done(found.first === null ? exitCode.undetermined : exitCode.held)
    })

  root
    .command('confirm')
    .description('searches around a kept schedule, after its bug was mended')
    .argument('<schedule>')
    .option('--for <duration>', 'how long', duration, duration('10m'))
    .option('--executions <n>', 'at most so many', wholeNumber)
    .option('--config <file>', 'instead of the configuration that the schedule names')
    .option('--seed <n>', 'of what is drawn', wholeNumber, 1)
    .option('--out <directory>', 'where a trace is put', defaultOut)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { for: milliseconds, json, ...options }: ConfirmArguments) => {
      const { confirmSchedule, describeConfirmed } = await import('./confirm-schedule.ts')
      const line = statusLine()
      const onExecution = (all: number, near: number) => line.update(`${all} executions, ${near} went near`)
      const confirmed = await confirmSchedule(path, { milliseconds, ...options, onExecution }).finally(line.end)
      print(json ? JSON.stringify(confirmed) : describeConfirmed(confirmed))
      done(codeOf[confirmed.outcome])
    })
}

const codeOf = {
  fails: exitCode.violated,
  passes: exitCode.held,
  'no longer applies': exitCode.undetermined,
} as const

interface BisectArguments {
  readonly good: string
  readonly bad: string
  readonly build?: string
  readonly executions: number
  readonly json?: boolean
}

interface ConfirmArguments {
  readonly for: number
  readonly executions?: number
  readonly config?: string
  readonly seed: number
  readonly out: string
  readonly json?: boolean
}

interface RegressArguments {
  readonly config?: string
  readonly executions: number
  readonly update?: boolean
  readonly json?: boolean
}

export const describeKept = ({ path, times }: Kept): string =>
  times === 1 ? `kept ${path}` : `known already, found ${times} times by now: ${path}`
