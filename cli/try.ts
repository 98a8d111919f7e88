import { counted } from '../checker/brief.ts'
import { Executor } from '../checker/cells/executor.ts'
import { UsageError } from '../checker/errors.ts'
import { labelsOf } from '../checker/labels.ts'
import type { Choice } from '../checker/system.ts'
import { type GlobalState, nearest } from '../harness/config.ts'
import type { LoadedConfig } from './config/load-config.ts'
import { inSession } from './session/session.ts'
import { record } from './traces/record.ts'

/** The result of steps chosen by hand. */
export interface TriedByHand {
  readonly verdict: 'violated' | 'held'
  readonly property: string | null
  readonly kind: string | null
  readonly message: string
  /** Full labels of the executed steps. */
  readonly schedule: readonly string[]
  /** Labels of the choices enabled next. */
  readonly enabled: readonly string[]
  readonly state: GlobalState
}

/**
 * Executes steps that are given by unambiguous parts of their labels, up to the first violation.
 *
 * @param out file for the trace, if any
 *
 * @throws UsageError if a name matches no enabled step, or more than one
 */
export const tryByHand = (
  config: LoadedConfig,
  names: readonly string[],
  { seed, out }: { readonly seed?: number | undefined; readonly out?: string | undefined },
): Promise<TriedByHand> =>
  inSession(config, { seed }, async session => {
    const { cluster, system } = session
    const executor = new Executor(cluster, system.properties)
    await executor.reset()
    for (const [index, name] of names.entries()) {
      if (executor.violation) break
      await executor.execute(meant(name, executor.enabled(), index + 1))
    }
    const { violation } = executor
    const found = {
      verdict: violation ? 'violated' : 'held',
      property: violation?.property ?? null,
      kind: violation?.kind ?? null,
      message: violation?.message ?? `no violation in ${counted(names.length, 'step')}`,
      schedule: executor.labels(),
    } as const
    const tried = { ...found, enabled: labelsOf(executor.enabled()), state: cluster.state() }
    executor.end()
    if (out !== undefined)
      await record(session, out, found.schedule, { options: { tried: names }, conclude: () => found })
    return tried
  })

/**
 * The step that a name means: the one with this label, else the only one that begins with it, else the only one with
 * all of its words.
 */
export const meant = (name: string, enabled: readonly Choice[], step: number): Choice => {
  const words = name.split(/\s+/)
  // Other choices than messages, timers and calls must be named from their beginning.
  const plain = enabled.filter(({ kind }) => kind === 'client' || kind === 'deliver' || kind === 'timer')
  const ways = [
    enabled.filter(({ label }) => label === name),
    enabled.filter(({ label }) => label.startsWith(name)),
    plain.filter(({ label }) => words.every(word => label.includes(word))),
  ]
  const found = ways.find(choices => choices.length > 0) ?? []
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UsageError(`step ${step}: "${name}" may be any of ${found.map(({ label }) => `"${label}"`).join(', ')}`)
  throw new UsageError(`step ${step}: "${name}" is not enabled; ${nearest(name, labelsOf(enabled))}`)
}
