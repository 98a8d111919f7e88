import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { Cluster } from '../../harness/cluster.ts'
import { defineSystem, resolveSystem } from '../../harness/config/config.ts'
import { systemCalls, type Treatment } from '../../harness/hold/calls/system-calls.ts'
import { syscallName } from '../../linux/syscall-number.ts'
import { requireAbilities } from '../session/machine.ts'

/** How the system calls of a program were treated. */
export interface ProgramCalls {
  /** How often each call was made, by treatment and name. */
  readonly calls: Readonly<Record<Treatment['kind'], Readonly<Record<string, number>>>>
  /** A sentence for each kind of call that could not be held. */
  readonly notes: readonly string[]
  /** How the program ended, or what went wrong. */
  readonly findings: readonly string[]
  /** Timers that were fired. */
  readonly steps: number
}

/** Limit on timers fired. A program that waits repeatedly has shown by then what it does. */
const stepsMax = 20

/** Runs a program alone, held, and fires its timers. */
export const callsOfProgram = async (command: readonly string[]): Promise<ProgramCalls> => {
  if (command.length === 0) throw new UsageError('--program needs a program: lastnail doctor --program -- COMMAND')
  requireAbilities()
  const directory = process.cwd()
  const nodes = { program: { command: command as [string, ...string[]], cwd: directory } }
  const cluster = new Cluster(resolveSystem(defineSystem({ name: 'program', nodes }), { directory }))
  try {
    cluster.recording.isOn = true
    const findings = [...(await cluster.reset())]
    let steps = 0
    for (; steps < stepsMax && findings.length === 0 && cluster.enabled().length > 0; steps++)
      findings.push(...(await cluster.execute(cluster.enabled()[0]!)).findings)
    return {
      calls: sorted(cluster.recording.counts),
      notes: cluster.notes(),
      findings: findings.map(({ message }) => message),
      steps,
    }
  } finally {
    cluster.close()
  }
}

const sorted = (counts: ReadonlyMap<number, number>): ProgramCalls['calls'] => {
  const calls: Record<Treatment['kind'], Record<string, number>> = { held: {}, native: {}, ignored: {}, refused: {} }
  for (const [number, count] of [...counts].sort(([, one], [, other]) => other - one)) {
    const name = syscallName(number)
    const kind = name === undefined ? 'refused' : systemCalls[name].kind
    calls[kind][name ?? String(number)] = count
  }
  return calls
}

export const describeCalls = ({ calls, notes, findings, steps }: ProgramCalls): string[] => [
  ...Object.entries(calls).map(([kind, counts]) => {
    const list = Object.entries(counts).map(([name, count]) => (count === 1 ? name : `${name} ${count}×`))
    return `${kind.padEnd(8)} ${list.join(', ') || 'none'}`
  }),
  ...notes.map(note => `note     ${note}`),
  ...findings,
  `its start, and ${counted(steps, 'timer')} fired; docs/system-calls.md says how each call is treated, and why`,
]
