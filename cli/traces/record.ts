import { accessSync, constants, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { release } from 'node:os'
import { dirname, join } from 'node:path'
import { type Replay, replay } from '../../checker/cells/replay.ts'
import { select } from '../../checker/cells/select.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { makeDirectories, NotWritten, Writing } from '../../checker/system/written.ts'
import type { TraceHeader } from '../../checker/trace/trace.ts'
import { TraceWriter, type TraceWriterOptions } from '../../checker/trace/write.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import { version } from '../command/package.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { hashOfRun } from '../config/programs.ts'
import type { Session } from '../session/session.ts'
import { StepReader } from './step-reader.ts'

/**
 * Executes a schedule once more and writes its trace. If that cannot be written, the execution is done all the same.
 *
 * @param property the only one that counts, if so; all are recorded
 *
 * @param allowFindings whether a crash or divergence is no violation
 *
 * @param conclude returns the verdict with which the trace ends
 *
 * @param concludeCut returns that of an execution that was cut short after so many steps; without it, `BudgetSpent` is thrown
 */
export const record = async (
  session: Session,
  path: string,
  schedule: readonly string[],
  {
    options,
    conclude,
    concludeCut,
    variant = 0,
    property,
    allowFindings,
  }: {
    options: object
    conclude: (replayed: Replay) => unknown | Promise<unknown>
    concludeCut?: (cut: BudgetSpent, steps: number) => unknown
    variant?: number
    property?: string | undefined
    allowFindings?: boolean | undefined
  },
): Promise<Recorded> => {
  const { cluster, system } = session
  const { config, seed, clocksStart } = session
  const held = { ...options, ...(cluster.hasLongTurns && { longTurns: true }) }
  const { addresses } = cluster
  const header = headerOf(config, system, { seed: seed + variant, clocksStart, options: held, addresses })
  const writing = new Writing()
  const writer = writing.try(() => createTrace(path, header))
  const reader = new StepReader(cluster, system.properties)
  let steps: number | undefined
  try {
    const observer = reader.observer(step => {
      writing.try(() => writer?.step(step))
      steps = step.index
    })
    const counted = select(system.properties, property)
    const replayed = await replay(cluster, counted, schedule, { observer, variant, allowFindings })
    const verdict = await conclude(replayed)
    writing.try(() => writer?.end({ verdict }))
    return { ...replayed, unwritten: writing.problem }
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    // Without the start there is nothing to see.
    if (steps === undefined) rmSync(path, { force: true })
    if (steps === undefined || !concludeCut) throw error
    const verdict = concludeCut(error, steps)
    writing.try(() => writer?.end({ verdict }))
    return { steps, violation: undefined, lastLive: new Map(), diverged: undefined, unwritten: writing.problem }
  } finally {
    writer?.close()
    if (writer && writing.problem !== undefined) rmSync(path, { force: true })
  }
}

/** An execution that was done once more. */
export interface Recorded extends Replay {
  /** Why there is no trace of it, if there is none. */
  readonly unwritten: string | undefined
}

/**
 * Checked before a search, so that a finding is not lost because it cannot be written.
 *
 * @throws UsageError if no file can be created in the directory, which need not exist yet
 */
export const requirePlace = (directory: string): void => {
  let existing = directory
  while (!existsSync(existing)) existing = dirname(existing)
  const refuse = (why: string) => new UsageError(`cannot write traces to ${directory}: ${why}`)
  if (!statSync(existing).isDirectory()) throw refuse(`${existing} is a file`)
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
  } catch {
    throw refuse(isReadOnly(existing) ? `${existing} is read-only` : `no permission to write in ${existing}`)
  }
  try {
    tryToWrite(existing)
  } catch (cause) {
    throw refuse((cause as Error).message)
  }
}

const isReadOnly = (directory: string): boolean => {
  try {
    accessSync(directory, constants.W_OK)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EROFS'
  }
}

/** More than a short trace has. */
const triedBytes = 8192

/** A full disk, or a file system that has no files, refuses only what is written. */
const tryToWrite = (directory: string): void => {
  const tried = mkdtempSync(join(directory, '.lastnail-'))
  try {
    writeFileSync(join(tried, 'tried'), Buffer.alloc(triedBytes))
  } finally {
    rmSync(tried, { recursive: true, force: true })
  }
}

/** @throws NotWritten */
export const createTrace = (path: string, header: TraceHeader, options?: TraceWriterOptions): TraceWriter => {
  try {
    makeDirectories(dirname(path), 0o700)
  } catch (cause) {
    throw new NotWritten('the trace', path, cause)
  }
  return new TraceWriter(path, header, options)
}

/** The header of a trace: how it was made. */
export const headerOf = (
  config: LoadedConfig,
  system: ResolvedSystem,
  {
    seed,
    clocksStart,
    options,
    addresses,
  }: Pick<TraceHeader, 'seed' | 'clocksStart' | 'options'> & {
    readonly addresses: Readonly<Record<string, string>>
  },
): TraceHeader => ({
  system: system.name,
  versions: { lastnail: version, node: process.versions.node, kernel: release() },
  config: { path: config.path, sha256: config.sha256 },
  seed,
  clocksStart,
  options,
  nodes: system.nodes.map(node => {
    const { name, command, env, image } = node
    return { name, command, env, image: image ?? '', address: addresses[name]!, program: hashOfRun(node) }
  }),
  properties: Object.entries(system.properties).map(([name, { kind }]) => ({ name, kind })),
  faults: system.faults,
})
