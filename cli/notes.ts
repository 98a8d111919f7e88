import { relative } from 'node:path'
import type { Sight } from '../checker/system.ts'
import type { Met } from '../checker/verdict/sights.ts'
import type { Verdict } from '../checker/verdict/verdict.ts'
import { sightOf } from '../harness/clients/sights.ts'
import type { FaultKind, ResolvedSystem } from '../harness/config.ts'
import { type CheckOptions, defaultMs } from './options.ts'

/** What a search never met though the configuration speaks of it, a line each: of that, `held` says nothing. */
export const neverMet = (system: ResolvedSystem, met: Met): string[] => [
  ...aboutProperties(system, met),
  ...system.clients.flatMap(({ name }) => aboutClient(name, met.sights)),
  ...Object.entries(system.faults).flatMap(([kind, budget]) => aboutFault(kind as FaultKind, budget, system, met)),
]

const aboutProperties = ({ properties, observe, nodes }: ResolvedSystem, { sights }: Met): string[] => {
  if (Object.keys(properties).length === 0)
    return ['there are no properties: only crashes and divergence were looked for']
  if (observe && !nodes.some(({ name }) => countOf(sights, sightOf.state(name)) > 0))
    return ['no node ever had a state: `state` saw nothing, and properties that speak of states were about nothing']
  return []
}

const countOf = (sights: readonly Sight[], name: string) => sights.find(({ what }) => what === name)?.count ?? 0

const aboutClient = (name: string, sights: readonly Sight[]): string[] => {
  const calls = countOf(sights, sightOf.call(name))
  if (calls === 0) return [`client ${name} was never called`]
  if (countOf(sights, sightOf.result(name)) > 0) return []
  const failed = sights.find(({ what }) => what === sightOf.error(name))
  if (failed === undefined) return [`client ${name} never returned in ${times(calls, 'call')}`]
  return [
    `client ${name} never returned a result: ${failed.count} of ${times(calls, 'call')} threw, the first "${failed.example}"`,
  ]
}

const needs: Partial<Readonly<Record<FaultKind, string>>> = {
  drop: 'a datagram on its way: TCP loses nothing but by a reset',
  duplicate: 'a datagram on its way: TCP delivers everything once',
  partition: 'two nodes',
}

const aboutFault = (kind: FaultKind, budget: number, { weights }: ResolvedSystem, { steps }: Met): string[] => {
  if (budget === 0 || (steps[kind] ?? 0) > 0) return []
  const why = weights.fault === 0 ? '; weights.fault is 0' : needs[kind] ? `; it needs ${needs[kind]}` : ''
  return [`no ${kind} ever happened, though faults has ${kind}: ${budget}${why}`]
}

const times = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

/** Ten times as long, from other random numbers: what one search misses, another may find. */
export const deeperThan = (
  path: string,
  { seed }: Pick<Verdict, 'seed'>,
  { milliseconds = defaultMs, property, search }: CheckOptions,
): string =>
  [
    ...['npx lastnail check', shown(relative('', path))],
    ...[`--for ${Math.ceil(milliseconds / 6000)}m`, `--seed ${seed + 1}`],
    ...(property === undefined ? [] : [`--property ${shown(property)}`]),
    ...(search === undefined || search === 'auto' ? [] : [`--search ${search}`]),
  ].join(' ')

/** As a shell reads it. */
const shown = (word: string) => (/^[\w./@:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/** What a search met, in few words: what became of calls, how often faults were taken and what must come true did. */
export const summaryOf = (
  { clients, faults }: ResolvedSystem,
  { sights, steps, live }: Met,
  executions: number,
): string[] => {
  const calls = clients.map(({ name }) => {
    const [returned, threw] = [sightOf.result(name), sightOf.error(name)].map(what => countOf(sights, what))
    return `${name} returned in ${returned} of ${times(countOf(sights, sightOf.call(name)), 'call')}${threw ? ` and threw in ${threw}` : ''}`
  })
  const taken = Object.entries(faults).flatMap(([kind, budget]) =>
    budget > 0 ? [`${kind} ${steps[kind as FaultKind] ?? 0} times`] : [],
  )
  const lived = Object.entries(live).map(
    ([name, count]) => `${name} held at some time in ${count} of ${executions} executions`,
  )
  return [calls, taken, lived].filter(list => list.length > 0).map(list => list.join(', '))
}
