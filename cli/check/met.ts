import { counted, shownList } from '../../checker/system/brief.ts'
import { propertySight, subjectsOf } from '../../checker/system/subjects.ts'
import type { Sight } from '../../checker/system/system.ts'
import { countOf, type Met } from '../../checker/verdict/sights.ts'
import { sightOf } from '../../harness/clients/sights.ts'
import type { FaultKind, ResolvedSystem } from '../../harness/config/config.ts'
import { isOfUsers, shownPath } from './subjects.ts'

/** A search's meetings, as `--json` prints them. Nothing was put to the test that was not met. */
export interface WhatWasMet {
  readonly clients: Readonly<Record<string, MetClient>>
  /** By operation of the history. */
  readonly operations: Readonly<Record<string, MetOperation>>
  /** By fault with a budget. */
  readonly faults: Readonly<Record<string, MetFault>>
  readonly eventually: Readonly<Record<string, MetEventually>>
  /** By `sometimes` property, the number of executions in which it was met. */
  readonly sometimes: Readonly<Record<string, number>>
  /** By bound of the configuration and node: timers that the bound held back. */
  readonly heldBack: Readonly<Partial<Record<'delay' | 'clocks', Readonly<Record<string, MetHeldBack>>>>>
  /** By `always` property and what it reads: the number of executions at whose end that was present. */
  readonly always: Readonly<Record<string, Readonly<Record<string, number>>>>
}

export interface MetClient {
  readonly calls: number
  readonly returned: number
  readonly threw: number
  /** Calls that returned although their last HTTP response was an error. */
  readonly refused: number
  /** The first error that was thrown, and the first response that was an error. */
  readonly firstError: string | null
  readonly firstRefusal: string | null
  /** The most frequent first. */
  readonly values: readonly MetValue[]
}

/** A result, and how often it was returned. */
export interface MetValue {
  readonly value: string
  readonly times: number
}

export interface MetOperation {
  readonly times: number
  readonly values: readonly MetValue[]
}

export interface MetFault {
  readonly times: number
  /** Executions in which it was taken. */
  readonly executions: number
}

export interface MetHeldBack {
  /** States in which the node's earliest timer was held back. */
  readonly states: number
  /** How often a timer of the node fired. */
  readonly fired: number
  /** In how many milliseconds the first of them was due: `+30000ms`. */
  readonly example: string
}

export interface MetEventually {
  /** Executions in which it was false at some time. */
  readonly wasFalse: number
  /** How often it came to hold after it had been false. */
  readonly again: number
  /** How often a node that had been up meanwhile was down by then, and how often each node was such a one. */
  readonly againAfterEnd: number
  readonly againAfterEndOf: Readonly<Record<string, number>>
}

export const metBy = ({ clients, faults, properties, nodes }: ResolvedSystem, met: Met): WhatWasMet => {
  const { sights, steps, executions } = met
  const named = (kind: string) => Object.keys(properties).filter(name => properties[name]!.kind === kind)
  return {
    clients: Object.fromEntries(clients.map(({ name }) => [name, metClient(name, sights)])),
    operations: metOperations(sights),
    faults: Object.fromEntries(
      (Object.keys(faults) as FaultKind[])
        .filter(kind => faults[kind] > 0)
        .map(kind => [kind, { times: steps[kind] ?? 0, executions: executions[kind] ?? 0 }]),
    ),
    eventually: Object.fromEntries(named('eventually').map(name => [name, metEventually(name, nodes, sights)])),
    sometimes: Object.fromEntries(named('sometimes').map(name => [name, countOf(sights, propertySight.met(name))])),
    heldBack: Object.fromEntries(
      (['delay', 'clocks'] as const).flatMap(by => {
        const held = metHeldBack(by, nodes, met)
        return Object.keys(held).length === 0 ? [] : [[by, held]]
      }),
    ),
    always: Object.fromEntries(named('always').map(name => [name, presentAtEnd(name, sights)])),
  }
}

const metClient = (name: string, sights: readonly Sight[]): MetClient => {
  const exampleOf = (what: string) => sights.find(each => each.what === what)?.example ?? null
  return {
    calls: countOf(sights, sightOf.call(name)),
    returned: countOf(sights, sightOf.result(name)),
    threw: countOf(sights, sightOf.error(name)),
    refused: countOf(sights, sightOf.refusal(name)),
    firstError: exampleOf(sightOf.error(name)),
    firstRefusal: exampleOf(sightOf.refusal(name)),
    values: valuesOf(name, sights),
  }
}

const metOperations = (sights: readonly Sight[]): WhatWasMet['operations'] => {
  const prefix = sightOf.operation('')
  return Object.fromEntries(
    sights
      .filter(({ what, group }) => group === undefined && what.startsWith(prefix))
      .map(({ what, count }) => [what.slice(prefix.length), { times: count, values: valuesOf(what, sights) }]),
  )
}

const metEventually = (name: string, nodes: ResolvedSystem['nodes'], sights: readonly Sight[]): MetEventually => ({
  wasFalse: countOf(sights, propertySight.wasFalse(name)),
  again: countOf(sights, propertySight.again(name)),
  againAfterEnd: countOf(sights, propertySight.againAfterEnd(name)),
  againAfterEndOf: Object.fromEntries(
    nodes
      .map(node => [node.name, countOf(sights, propertySight.againAfterEndOf(name, node.name))] as const)
      .filter(([, times]) => times > 0),
  ),
})

const metHeldBack = (
  by: 'delay' | 'clocks',
  nodes: ResolvedSystem['nodes'],
  { sights, timers }: Pick<Met, 'sights' | 'timers'>,
): Readonly<Record<string, MetHeldBack>> =>
  Object.fromEntries(
    nodes.flatMap(({ name }) => {
      const held = sights.find(({ what }) => what === sightOf.heldBack(by, name))
      return held ? [[name, { states: held.count, fired: timers[name] ?? 0, example: held.example ?? '' }]] : []
    }),
  )

/** Fields that an `always` property reads, and how often each was present, the rarest first. */
const presentAtEnd = (name: string, sights: readonly Sight[]): Readonly<Record<string, number>> => {
  const all = subjectsOf(name, sights).filter(({ path }) => isOfUsers(path))
  return Object.fromEntries(
    all
      .filter(({ path }) => !all.some(other => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[]`)))
      .toSorted((one, other) => one.atEnd - other.atEnd)
      .map(subject => [shownPath(subject), subject.atEnd]),
  )
}

/** How often each result of a client's calls or of operations was returned. */
const valuesOf = (caller: string, sights: readonly Sight[]): MetValue[] => {
  const prefix = sightOf.value(caller, '')
  return sights
    .filter(({ what, group }) => group === caller && what.startsWith(prefix))
    .toSorted((one, other) => other.count - one.count)
    .map(({ what, count }) => ({ value: what.slice(prefix.length), times: count }))
}

/** The same in lines for a person, one for each kind of thing. */
export const describeMet = (met: WhatWasMet, executions: number): string[] =>
  [
    Object.entries(met.clients).map(describeClient),
    Object.entries(met.operations).map(
      ([name, { times, values }]) => `operation ${name} ${counted(times, 'time')}${describeValues(values)}`,
    ),
    Object.entries(met.faults).map(describeFault),
    Object.entries(met.eventually).map(each => describeEventually(each, executions)),
    Object.entries(met.sometimes).map(
      ([name, count]) => `${name} was met in ${count} of ${counted(executions, 'execution')}`,
    ),
    Object.entries(met.always).flatMap(each => describeAlways(each, executions)),
  ]
    .filter(list => list.length > 0)
    .map(list => list.join(', '))

const describeClient = ([name, { calls, returned, threw, refused, values }]: [string, MetClient]): string =>
  [
    `${name} returned in ${returned} of ${counted(calls, 'call')}`,
    refused > 0 ? `, ${refused} of these after an HTTP error` : '',
    threw > 0 ? ` and threw in ${threw}` : '',
    describeValues(values),
  ].join('')

const describeFault = ([kind, { times, executions }]: [string, MetFault]): string =>
  `${kind} ${counted(times, 'time')}${times > 0 ? ` in ${counted(executions, 'execution')}` : ''}`

const describeEventually = ([name, { wasFalse, again }]: [string, MetEventually], executions: number): string =>
  wasFalse === 0
    ? `${name} was never false`
    : `${name} was false in ${wasFalse} of ${counted(executions, 'execution')} and held again ${counted(again, 'time')}`

/** Number of results of a client or operation that are listed. */
const valuesShown = 4

/** The results of calls or operations in brackets, if there were any. */
const describeValues = (values: readonly MetValue[]): string => {
  const each = values.map(({ value, times }) => `${value}: ${counted(times, 'time')}`)
  return each.length === 0 ? '' : ` (${shownList(each, valuesShown)})`
}

const subjectsShownMax = 3

const describeAlways = ([name, present]: [string, Readonly<Record<string, number>>], executions: number): string[] => {
  const subjects = Object.entries(present)
    .slice(0, subjectsShownMax)
    .map(([path, atEnd]) => `${path} of ${name} was there at the end of ${atEnd}`)
  return subjects.length === 0 ? [] : [`${subjects.join(', ')} of ${counted(executions, 'execution')}`]
}
