import type { Command } from 'commander'
import type { TriedCommit } from '../../campaign/bisect.ts'
import type { Kept } from '../../campaign/schedules/corpus.ts'
import { checkOption } from '../command/check-options.ts'
import { exitCode, unlessUnwritten } from '../command/exit-code.ts'
import { print } from '../command/print.ts'
import { statusLine } from '../command/progress.ts'
import { duration, wholeNumberAboveZero } from '../command/values.ts'
import { keepAsTest, keepSchedule } from './keep.ts'

/** Adds the commands for schedules that are kept in a repository. */
export const addScheduleCommands = (root: Command, done: (code: number) => void): void => {
  root
    .command('keep')
    .description('keeps a trace’s violation as a schedule, which regress executes on later builds')
    .argument('<trace>')
    .option('--out <directory>', 'directory for it (schedules/, beside the configuration); with --test a file')
    .option('--test', 'writes a vitest test instead, which fails while the violation exists')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { out, test, json }: { out?: string; test?: boolean; json?: boolean }) => {
      if (test) {
        const file = keepAsTest(path, out)
        print(json ? JSON.stringify({ file, times: 1 }) : file)
        return
      }
      const kept = await keepSchedule(path, out)
      print(json ? JSON.stringify({ file: kept.path, times: kept.times }) : describeKept(kept))
    })

  root
    .command('regress')
    .description('executes kept schedules on the present build')
    .argument('[schedules]', 'a schedule, or a directory of schedules', 'schedules')
    .option('--config <file>', 'overrides the configurations that the schedules name')
    .option(
      '--executions <n>',
      'limit for a schedule with steps that are not enabled any more',
      wholeNumberAboveZero,
      32,
    )
    .option('--update', 'rewrites schedules that had to be adapted, as they were executed')
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { json, ...options }: RegressArguments) => {
      const { describeRegressed, regress } = await import('./regress.ts')
      const line = statusLine()
      const onSchedule = (file: string, ordinal: number, of: number) => line.update(`${ordinal} of ${of}: ${file}`)
      const { schedules, unwritten } = await regress(path, { ...options, onSchedule }).finally(line.end)
      print(json ? JSON.stringify({ schedules }) : describeRegressed(schedules))
      const codes = schedules.map(({ outcome }) => codeOf[outcome])
      const code = [exitCode.violated, exitCode.undetermined].find(each => codes.includes(each)) ?? exitCode.held
      done(unlessUnwritten(code, unwritten))
    })

  root
    .command('bisect')
    .description('finds the first commit on which a kept schedule fails, in a worktree of its own')
    .argument('<schedule>')
    .requiredOption('--good <revision>', 'a revision on which it passes')
    .option('--bad <revision>', 'a revision on which it fails', 'HEAD')
    .option('--build <command>', 'a shell command to build each checkout; commits on which it fails are skipped')
    .option('--executions <n>', 'limit if steps are not enabled any more', wholeNumberAboveZero, 32)
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { json, ...options }: BisectArguments) => {
      const { bisectSchedule, describeBisected, describeTriedCommit } = await import('./bisect.ts')
      const onTried = (tried: TriedCommit) => void process.stderr.write(`lastnail: ${describeTriedCommit(tried)}\n`)
      const found = await bisectSchedule(path, { ...options, onTried })
      print(json ? JSON.stringify(found) : describeBisected(found))
      done(found.first === null ? exitCode.undetermined : exitCode.held)
    })

  root
    .command('confirm')
    .description('searches around a kept schedule for the bug, after it was mended')
    .argument('<schedule>')
    .option('--for <duration>', 'how long', duration, duration('10m'))
    .addOption(checkOption('executions'))
    .option('--config <file>', 'overrides the configuration that the schedule names')
    .addOption(checkOption('seed', 'seed of all random numbers'))
    .addOption(checkOption('out', 'directory for a trace'))
    .option('--json', 'prints one JSON object as the last line')
    .action(async (path: string, { for: milliseconds, json, ...options }: ConfirmArguments) => {
      const { confirmSchedule, describeConfirmed } = await import('./confirm-schedule.ts')
      const line = statusLine()
      const onExecution = (all: number, near: number) => line.update(`${all} executions, ${near} came near`)
      const search = confirmSchedule(path, { milliseconds, ...options, onExecution })
      const { unwritten, ...confirmed } = await search.finally(line.end)
      print(json ? JSON.stringify(confirmed) : describeConfirmed(confirmed))
      done(unlessUnwritten(codeOf[confirmed.outcome], unwritten))
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
