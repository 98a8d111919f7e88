import { createHash } from 'node:crypto'
import { effectOf, kindOf, nodeOf, sentenceOf, startsNode } from '../../checker/happening/happenings.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { ResolvedSystem } from '../config/config.ts'
import type { Measurements } from '../timed/measurements.ts'
import type { Happening } from '../timed/timing.ts'
import type { EndedCall } from './run.ts'

/** What the steps of a run come to: its hash, the times of calls, and what happened to nodes. */
export class RunLog {
  /** Calls of clients that are over. */
  readonly timed: EndedCall[] = []
  readonly #measurements: Measurements
  readonly #clients: ReadonlySet<string>
  readonly #hash = createHash('sha256')
  /** By client, when its current call began. */
  readonly #began = new Map<string, number>()

  constructor({ clients }: Pick<ResolvedSystem, 'clients'>, measurements: Measurements) {
    this.#clients = new Set(clients.map(({ name }) => name))
    this.#measurements = measurements
  }

  /** Whether it is a client of the system, and not a program that somebody runs in a node. */
  isClient(name: string): boolean {
    return this.#clients.has(name)
  }

  /** Hash over labels, times, outputs and states: equal for equal runs. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** @param happened what the step was about, if that was planned or requested */
  see(step: RecordedStep, happened: Happening | undefined): void {
    const { index, choice, atMs = 0, outputs, states, properties } = step
    for (const value of properties) this.#measurements.changed(value, atMs)
    const written = outputs.map(({ node, stream, bytes }) => [node, stream, Buffer.from(bytes).toString('latin1')])
    this.#hash.update(`${JSON.stringify([index, choice?.label, atMs, written, states])}\n`)
    this.#noteCalls(step, atMs)
    if (happened) this.#noteHappening(happened, atMs)
    for (const { node, message } of step.findings)
      this.#measurements.happened({ atMs, kind: 'fault', label: message, node, step: 'crash', isCrash: true })
  }

  #noteCalls({ calls = [] }: RecordedStep, atMs: number): void {
    for (const { client, hasEnded, error } of calls) {
      const began = this.#began.get(client) ?? atMs
      if (!this.isClient(client)) continue
      if (!hasEnded) this.#began.set(client, atMs)
      else {
        this.#began.delete(client)
        this.timed.push({ client, beganMs: began, tookMs: atMs - began, isOk: error === undefined })
      }
    }
  }

  #noteHappening(happened: Happening, atMs: number): void {
    const effect = effectOf(happened)
    const node = nodeOf(happened)
    if (effect !== 'none')
      this.#measurements.happened({
        ...{ atMs, label: sentenceOf(happened), node, step: kindOf(happened), isCrash: false },
        kind: effect === 'harm' ? 'fault' : 'repair',
      })
    if (node !== undefined && startsNode(happened)) this.#measurements.started(node, atMs)
  }
}
