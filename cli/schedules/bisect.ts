import { realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { execa } from 'execa'
import { type Bisected, bisect, type Judgement, pathAtCommit, type TriedCommit } from '../../campaign/bisect.ts'
import { git, noRepository } from '../../campaign/git.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { whileUninterrupted } from '../session/interrupt.ts'
import { keptAt, type Regressed } from './regress.ts'

export interface BisectScheduleOptions {
  readonly good: string
  readonly bad: string
  /** A shell command that builds a checked-out commit. */
  readonly build?: string | undefined
  /** Limit on executions for a schedule with steps that are not enabled. */
  readonly executions: number
  readonly onTried?: ((tried: TriedCommit) => void) | undefined
}

/** The result of a bisection, as `--json` prints it. */
export interface BisectedSchedule extends Bisected {
  readonly file: string
}

/** @throws UsageError if `good` fails, `bad` passes, or one of them does not build */
export const bisectSchedule = async (path: string, options: BisectScheduleOptions): Promise<BisectedSchedule> => {
  const [kept, another] = keptAt(path)
  if (another) throw new UsageError(`expected one schedule, and ${path} has several`)
  const file = resolve(kept!.path)
  const config = realPath(resolve(dirname(file), kept!.schedule.config))
  const repository = await git(dirname(config), 'rev-parse', '--show-toplevel')
  const within = relative(repository, config)
  const found = await whileUninterrupted(async signal => {
    const judge = (worktree: string, commit: string) =>
      judgeAt({ ...options, repository, within, file, worktree, commit, signal })
    try {
      return await bisect(repository, { ...options, signal, judge })
    } catch (error) {
      throw signal.aborted ? new BudgetSpent('aborted') : error
    }
  })
  return { file: kept!.path, ...found }
}

const realPath = (path: string): string => {
  try {
    return realpathSync(path)
  } catch (cause) {
    throw new UsageError(`cannot read the configuration ${path} that the schedule names`, { cause })
  }
}

interface Place extends BisectScheduleOptions {
  readonly repository: string
  /** The configuration's path inside the worktree. */
  readonly within: string
  readonly file: string
  readonly worktree: string
  readonly commit: string
  readonly signal: AbortSignal
}

const judgeAt = async (place: Place): Promise<Judgement> => {
  const { repository, within, worktree, commit, build, signal } = place
  const failure = build === undefined ? undefined : await failureOfBuild(build, worktree, signal)
  if (failure !== undefined) return { is: 'skip', why: `the build command failed: ${failure}` }
  const config = await pathAtCommit(repository, within, commit)
  if (config === undefined) return { is: 'skip', why: `it has no ${within}` }
  return tryIn(place, join(worktree, config))
}

/** The last line that a failed build printed; undefined if it succeeded. */
const failureOfBuild = async (command: string, worktree: string, signal: AbortSignal): Promise<string | undefined> => {
  const building = execa(command, {
    ...{ shell: true, cwd: worktree, all: true, reject: false, stdin: 'ignore', env: noRepository },
    // It leads a group of processes, because ending only the shell would leave the programs that it runs.
    detached: true,
  })
  // Its worktree is removed next, so there is nothing to tidy up.
  const endGroup = () => {
    try {
      process.kill(-building.pid!, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  signal.addEventListener('abort', endGroup)
  const { failed, all, shortMessage } = await building.finally(() => signal.removeEventListener('abort', endGroup))
  return failed ? lastLine(all) || shortMessage : undefined
}

/** Runs in its own process, so that modules loaded for one version of a configuration are not reused for another. */
const tryIn = async ({ worktree, file, executions, signal }: Place, config: string): Promise<Judgement> => {
  const args = ['regress', file, '--config', config, '--executions', String(executions), '--json']
  const {
    exitCode,
    signal: killedBy,
    stdout,
  } = await execa(process.execPath, [...process.execArgv, process.argv[1]!, ...args], {
    ...{ cwd: worktree, env: noRepository, reject: false, stdin: 'ignore', cancelSignal: signal },
  })
  const line = lastLine(stdout)
  if (line === '') return { is: 'skip', why: `it ended ${killedBy ? `by ${killedBy}` : `with code ${exitCode}`}` }
  const said = JSON.parse(line) as { schedules: Regressed[] } | { error: { message: string } }
  if ('error' in said) return { is: 'skip', why: said.error.message.split('\n', 1)[0]! }
  const { outcome, message } = said.schedules[0]!
  if (outcome === 'fails') return { is: 'bad', why: message }
  return outcome === 'passes' ? { is: 'good', why: message } : { is: 'skip', why: message }
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)!

export const describeTriedCommit = ({ commit, is, why }: TriedCommit): string =>
  `${is === 'skip' ? 'skipped' : is}: ${commit} (${why})`

export const describeBisected = ({ first, candidates }: Bisected): string[] =>
  first === null
    ? ['the first bad commit is one of these, which could not be judged:', ...candidates]
    : [`${first} is the first bad commit`]
