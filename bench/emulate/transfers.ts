/** Programs that transfer bytes from `a` to `b` and say how long that took: `bench/service/transfer.cjs`. */

import type { Pipe, Topology } from '../../topologies/topology.ts'
import { pair } from './natively.ts'

/** Milliseconds by what was measured. */
export type Times = ReadonlyMap<string, readonly number[]>

const program = '../../../bench/service/transfer.cjs'

export const serve = ['node', program, 'serve']
export const fetchFrom = (address: string) => ['node', program, 'fetch', address]

/** Whether the output of the program that fetches is whole. */
export const isDone = (output: string): boolean => output.includes('"done"')

export const timesIn = (output: string): Times => {
  const lines = output
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line) as { what: string; ms: number })
  const kinds = [...new Set(lines.map(({ what }) => what))].filter(what => what !== 'done')
  return new Map(kinds.map(what => [what, lines.filter(line => line.what === what).map(({ ms }) => ms)]))
}

/** Both nodes with this pipe between them. Its loss applies only to the direction of the transfer. */
export const topologyOf = ({ loss, ...back }: Pipe): Topology =>
  pair({ ...back, ...(loss !== undefined && { loss }) }, back)
