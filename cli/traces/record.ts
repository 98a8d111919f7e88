import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs'
import { release } from 'node:os'
import { dirname } from 'node:path'
import { type Replay, replay } from '../../checker/cells/replay.ts'
import { select } from '../../checker/check.ts'
import { UsageError } from '../../checker/errors.ts'
import type { TraceHeader } from '../../checker/trace/trace.ts'
import { TraceWriter, type TraceWriterOptions } from '../../checker/trace/write.ts'
import type { ResolvedSystem } from '../../harness/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { hashOfRun } from '../config/programs.ts'
import { version } from '../package.ts'
import type { Session } from '../session/session.ts'
import { StepReader } from './step-reader.ts'

/**
 * Executes a schedule once more and writes its trace.
 *
 * @param property the only one that counts, if so; all are recorded
 *
 * @param allowFindings whether a crash or divergence is no violation
 *
 * @param conclude returns the verdict with which the trace ends
 */
export const record = async (
  session: Session,
  path: string,
  schedule: readonly string[],
  {
    options,
    conclude,
    variant = 0,
    property,
    allowFindings,
  }: {
    options: object
    conclude: (replayed: Replay) => unknown | Promise<unknown>
    variant?: number
    property?: string | undefined
    allowFindings?: boolean | undefined
  },
): Promise<Replay> => {
  const { cluster, system } = session
  const { config, seed, clocksStart } = session
  const held = { ...options, ...(cluster.hasLongTurns && { longTurns: true }) }
  const writer = createTrace(
    path,
    headerOf(config, system, { seed: seed + variant, clocksStart, options: held, addresses: cluster.addresses }),
  )
  const reader = new StepReader(cluster, system.properties)
  try {
    const observer = reader.observer(step => writer.step(step))
    const counted = select(system.properties, property)
    const replayed = await replay(cluster, counted, schedule, { observer, variant, allowFindings })
    writer.end({ verdict: await conclude(replayed) })
    return replayed
  } finally {
    writer.close()
  }
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
    throw refuse(`no permission to write in ${existing}`)
  }
}

/** @throws UsageError if the file cannot be created */
export const createTrace = (path: string, header: TraceHeader, options?: TraceWriterOptions): TraceWriter => {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return new TraceWriter(path, header, options)
  } catch (cause) {
    throw new UsageError(`cannot write the trace ${path}: ${(cause as Error).message}`, { cause })
  }
}

/** What a trace says about how it was made. */
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
