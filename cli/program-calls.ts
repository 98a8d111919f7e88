import { UsageError } from '../checker/errors.ts'
import { Cluster } from '../harness/cluster.ts'
import { defineSystem, resolveSystem } from '../harness/config.ts'
import { syscallName } from '../harness/hold/syscall-number.ts'
import { systemCalls, type Treatment } from '../harness/hold/system-calls.ts'
import { requireAbilities } from './machine.ts'

/** What became of the system calls that a program made. */
export interface ProgramCalls {
  /** How often each call was made, by what became of it and by its name. */
  readonly calls: Readonly<Record<Treatment['kind'], Readonly<Record<string, number>>>>
  /** What could not be held, a sentence each. */
  readonly notes: readonly string[]
  /** What ended it, or went wrong. */
  readonly findings: readonly string[]
  /** Timers that were fired. */
  readonly steps: number
}

/** A program that waits again and again has shown by then what it does. */
const stepsMax = 20

/** Runs a program alone, held, and fires its timers. */
export const callsOf = async (command: readonly string[]): Promise<ProgramCalls> => {
  if (command.length === 0) throw new UsageError('--program needs a program: lastnail doctor --program -- COMMAND')
  requireAbilities()
  const directory = process.cwd()
  const nodes = { program: { command: command as [string, ...string[]], cwd: directory } }
  const cluster = new Cluster(resolveSystem(defineSystem({ name: 'program', nodes }), { directory }))
  try {
    cluster.isRecording = true
    const findings = [...(await cluster.reset())]
    let steps = 0
    for (; steps < stepsMax && findings.length === 0 && cluster.enabled().length > 0; steps++)
      findings.push(...(await cluster.execute(cluster.enabled()[0]!)).findings)
    return {
      calls: sorted(cluster.callCounts),
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

/** For a person. */
export const describeCalls = ({ calls, notes, findings, steps }: ProgramCalls): string[] => [
  ...Object.entries(calls).map(([kind, counts]) => {
    const list = Object.entries(counts).map(([name, count]) => (count === 1 ? name : `${name} ${count}×`))
    return `${kind.padEnd(8)} ${list.join(', ') || 'none'}`
  }),
  ...notes.map(note => `note     ${note}`),
  ...findings,
  `its start, and ${steps} timer${steps === 1 ? '' : 's'} fired; docs/system-calls.md says what becomes of each call, and why`,
]
