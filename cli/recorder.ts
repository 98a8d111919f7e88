import { release } from 'node:os'
import type { Observer } from '../checker/executor.ts'
import type { Choice, Finding } from '../checker/system.ts'
import type { PropertyValue, RecordedState, TraceHeader } from '../checker/trace/trace.ts'
import { TraceWriter } from '../checker/trace/write.ts'
import type { Cluster } from '../harness/cluster.ts'
import type { GlobalState, ResolvedSystem } from '../harness/config.ts'
import type { LoadedConfig } from './load-config.ts'
import { version } from './version.ts'

/** What a trace says of how it came about. */
export const headerOf = (
  config: LoadedConfig,
  system: ResolvedSystem,
  seed: number,
  options: unknown,
): TraceHeader => ({
  system: system.name,
  versions: { lastnail: version, node: process.versions.node, kernel: release() },
  config: { path: config.path, sha256: config.sha256 },
  seed,
  options,
  nodes: system.nodes.map(({ name, command, env, image }) => ({ name, command, env, image: image ?? '' })),
  properties: Object.entries(system.properties).map(([name, { kind }]) => ({ name, kind })),
  faults: system.faults,
})

/** Writes the trace of one execution while it is executed. */
export class Recorder implements Observer<GlobalState> {
  readonly #writer: TraceWriter
  readonly #cluster: Cluster
  readonly #properties: ResolvedSystem['properties']
  readonly #states = new Map<string, string>()
  readonly #values = new Map<string, boolean>()
  #index = 0

  constructor(path: string, header: TraceHeader, cluster: Cluster, properties: ResolvedSystem['properties']) {
    this.#writer = new TraceWriter(path, header)
    this.#cluster = cluster
    this.#properties = properties
  }

  onReset(findings: readonly Finding[], state: () => GlobalState): void {
    this.#record(undefined, findings, state())
  }

  onStep(step: { readonly choice: Choice; readonly findings: readonly Finding[] }, state: () => GlobalState): void {
    this.#record(step.choice, step.findings, state())
  }

  /** Ends the trace with what was concluded. */
  end(verdict: unknown): void {
    this.#writer.end({ verdict })
    this.#writer.close()
  }

  #record(choice: Choice | undefined, findings: readonly Finding[], state: GlobalState): void {
    const { messages, outputs, durationUs } = this.#cluster.details
    this.#writer.step({
      index: this.#index++,
      choice,
      durationUs,
      messages: messages.map(({ from, to, ordinal, label, bytes }) => ({
        from,
        to,
        ordinal,
        label,
        bytes,
        length: bytes.length,
      })),
      timers: this.#cluster.timers,
      states: this.#changedStates(state),
      outputs,
      findings,
      properties: this.#changedValues(state),
      fingerprint: this.#cluster.fingerprint(),
    })
  }

  #changedStates(state: GlobalState): RecordedState[] {
    return state.nodes.flatMap(({ name, state: seen }) => {
      const text = JSON.stringify(seen) ?? ''
      if (this.#states.get(name) === text) return []
      this.#states.set(name, text)
      return [{ node: name, state: seen }]
    })
  }

  #changedValues(state: GlobalState): PropertyValue[] {
    return Object.entries(this.#properties).flatMap(([name, { holds: predicate }]) => {
      const holds = predicate(state)
      if (this.#values.get(name) === holds) return []
      this.#values.set(name, holds)
      return [{ name, holds }]
    })
  }
}
