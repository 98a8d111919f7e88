import { relative } from 'node:path'
import { counted, shownList } from '../../checker/brief.ts'
import type { Property } from '../../checker/property.ts'
import { inSeconds } from '../../checker/show.ts'
import { propertySight, type Subject, subjectsOf } from '../../checker/subjects.ts'
import type { Sight } from '../../checker/system.ts'
import type { Met } from '../../checker/verdict/sights.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { sightOf } from '../../harness/clients/sights.ts'
import type { FaultKind, GlobalState, ResolvedSystem } from '../../harness/config.ts'
import { quotedForShell } from '../../report/model/quoted.ts'
import { type CheckOptions, defaultMs } from '../options.ts'

/**
 * Things that the configuration mentions but the search never met, one line each. `held` says nothing about them.
 *
 * @param isAlone whether mostly single nodes were executed, and the whole system hardly ever
 */
export const neverMet = (system: ResolvedSystem, met: Met, { isAlone = false } = {}): string[] => [
  ...(isAlone ? aboutAlone(system) : aboutProperties(system, met)),
  ...system.clients.flatMap(({ name }) => aboutClient(name, met.sights)),
  ...Object.entries(system.properties).flatMap(([name, property]) => aboutBound(name, property)),
  ...Object.entries(system.faults).flatMap(([kind, budget]) => aboutFault(kind as FaultKind, budget, system, met)),
]

const aboutProperties = ({ properties, observe, nodes }: ResolvedSystem, { sights }: Met): string[] => {
  if (!Object.values(properties).some(({ kind }) => kind !== 'sometimes'))
    return [
      'there are no properties, so only crashes and divergences were looked for',
      ...Object.keys(properties).flatMap(name => aboutGoal(name, sights)),
    ]
  if (observe && !nodes.some(({ name }) => countOf(sights, sightOf.state(name)) > 0))
    return ['no node ever had a state: `state` observed nothing, so properties of states were not tested']
  return Object.entries(properties).flatMap(([name, property]) =>
    property.kind === 'sometimes'
      ? aboutGoal(name, sights)
      : property.kind === 'always'
        ? aboutSubjects(name, property, sights)
        : [],
  )
}

const aboutAlone = ({ properties }: ResolvedSystem): string[] => {
  const goals = Object.keys(properties).filter(name => properties[name]!.kind === 'sometimes')
  return goals.length === 0
    ? []
    : [`${goals.join(', ')} was not looked for, because a local search executes nodes alone`]
}

const aboutGoal = (name: string, sights: readonly Sight[]): string[] =>
  countOf(sights, propertySight.met(name)) > 0
    ? []
    : [`${name} was never met in any execution, so the properties may not have been put to the test`]

/** A search may delay messages without limit, so a property may be false for any time without being at fault. */
const aboutBound = (name: string, { withinMs }: Pick<Property<GlobalState>, 'withinMs'>): string[] =>
  withinMs === undefined
    ? []
    : [
        `${name} was checked without its bound of ${inSeconds(withinMs)}, because a search may delay messages without limit; emulate, and verify of its trace, judge it`,
      ]

/** By `sometimes` property, the number of executions in which it was met. */
export const metGoals = (
  { properties }: Pick<ResolvedSystem, 'properties'>,
  { sights }: Pick<Met, 'sights'>,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, { kind }]) =>
      kind === 'sometimes' ? [[name, countOf(sights, propertySight.met(name))]] : [],
    ),
  )

/**
 * The things a property reads, if none was ever present: lists that were always empty, or fields that never existed.
 * Or that it reads nothing.
 */
const aboutSubjects = (
  name: string,
  { fold }: Pick<Property<GlobalState>, 'fold'>,
  sights: readonly Sight[],
): string[] => {
  const all = subjectsOf(name, sights)
  // What a fold reads is not watched.
  if (all.length === 0 && fold === undefined) return [`${name} was not tested: it reads nothing of the state`]
  const subjects = all.filter(({ path }) => isOfUsers(path))
  const absent = subjects.filter(({ found }) => found === 0)
  const empty = absent.filter(({ was }) => was === 'empty')
  if (empty.length > 0)
    return empty.map(subject => `${name} reads ${shownPath(subject)}, which was empty in every state`)
  // A field that exists only when something is wrong is usually read beside others that exist.
  if (absent.length === 0 || absent.length < subjects.filter(({ path }) => !isWhole(path)).length) return []
  return [`${name} was not tested: ${absent.map(shownPath).join(', ')} was in no state`]
}

/** Fields that exist only at the end of a call or after a failure say nothing. */
const isOfUsers = (path: string) => path === '' || /^(calls|history)$|^(nodes\[\]|node\(\))\.state\b/.test(path)
const isWhole = (path: string) => /^(nodes\[\]|node\(\))\.state$/.test(path)

const shownPath = ({ path }: Pick<Subject, 'path'>): string =>
  path === '' ? 'the history' : path.replace(/^(nodes\[\]|node\(\))\./, '').replaceAll('[]', '[…]')

const countOf = (sights: readonly Sight[], name: string) => sights.find(({ what }) => what === name)?.count ?? 0

const aboutClient = (name: string, sights: readonly Sight[]): string[] => {
  const calls = countOf(sights, sightOf.call(name))
  if (calls === 0) return [`client ${name} was never called`]
  if (countOf(sights, sightOf.result(name)) > 0) return []
  const failed = sights.find(({ what }) => what === sightOf.error(name))
  if (failed === undefined) return [`client ${name} never returned in ${counted(calls, 'call')}`]
  return [
    `client ${name} never returned a result: ${failed.count} of ${counted(calls, 'call')} threw, the first "${failed.example}"`,
  ]
}

const needs: Partial<Readonly<Record<FaultKind, string>>> = {
  drop: 'a datagram in flight (TCP loses messages only by a reset)',
  duplicate: 'a datagram in flight (TCP delivers everything once)',
  partition: 'two nodes',
}

const aboutFault = (kind: FaultKind, budget: number, { weights }: ResolvedSystem, { steps }: Met): string[] => {
  if (budget === 0 || (steps[kind] ?? 0) > 0) return []
  const why = weights.fault === 0 ? '; weights.fault is 0' : needs[kind] ? `; it needs ${needs[kind]}` : ''
  return [`no ${kind} ever happened, though faults has ${kind}: ${budget}${why}`]
}

/** The command for a search ten times as long with other random numbers, which may find what this one missed. */
export const deeperThan = (
  path: string,
  { seed }: Pick<Verdict, 'seed'>,
  { milliseconds = defaultMs, property, search, from, everyOrder, rewind }: CheckOptions,
): string =>
  [
    ...['npx lastnail check', quotedForShell(relative('', path))],
    ...[`--for ${Math.ceil(milliseconds / 6000)}m`, `--seed ${seed + 1}`],
    ...(property === undefined ? [] : [`--property ${quotedForShell(property)}`]),
    ...(search === undefined || search === 'auto' ? [] : [`--search ${search}`]),
    ...(typeof from === 'string' ? [`--from ${quotedForShell(from)}`] : []),
    ...(everyOrder ? ['--every-order'] : []),
    ...(rewind === undefined ? [] : [`--rewind ${rewind ? 'on' : 'off'}`]),
  ].join(' ')

/** Number of results of a client or operation that are listed, the most frequent first. */
const valuesShown = 4

/** The results of a client's calls or of operations, in brackets, if there were any. */
const valuesOf = (caller: string, sights: readonly Sight[]): string => {
  const prefix = sightOf.value(caller, '')
  const values = sights.filter(({ what, group }) => group === caller && what.startsWith(prefix))
  if (values.length === 0) return ''
  const sorted = values.toSorted((a, b) => b.count - a.count)
  return ` (${shownList(
    sorted.map(({ what, count }) => `${what.slice(prefix.length)}: ${counted(count, 'time')}`),
    valuesShown,
  )})`
}

/** Operations of the history by their results. */
const operationsOf = (sights: readonly Sight[]): string[] => {
  const prefix = sightOf.operation('')
  return sights
    .filter(({ what, group }) => group === undefined && what.startsWith(prefix))
    .map(({ what, count }) => `${what} ${counted(count, 'time')}${valuesOf(what, sights)}`)
}

/**
 * What a search met, briefly: calls and operations with their results, how often faults were taken, how often `eventually` and
 * `sometimes` properties held, and how often there was anything that an `always` property is about.
 */
export const summaryOf = (
  { clients, faults, properties }: ResolvedSystem,
  { sights, steps, live }: Met,
  executions: number,
): string[] => {
  const calls = clients.map(({ name }) => {
    const [returned, threw] = [sightOf.result(name), sightOf.error(name)].map(what => countOf(sights, what))
    return `${name} returned in ${returned} of ${counted(countOf(sights, sightOf.call(name)), 'call')}${threw ? ` and threw in ${threw}` : ''}${valuesOf(name, sights)}`
  })
  const operations = operationsOf(sights)
  const taken = Object.entries(faults).flatMap(([kind, budget]) =>
    budget > 0 ? [`${kind} ${counted(steps[kind as FaultKind] ?? 0, 'time')}`] : [],
  )
  const lived = Object.entries(live).map(
    ([name, count]) => `${name} held at some time in ${count} of ${counted(executions, 'execution')}`,
  )
  const met = Object.entries(metGoals({ properties }, { sights })).map(
    ([name, count]) => `${name} was met in ${count} of ${counted(executions, 'execution')}`,
  )
  const present = Object.entries(properties).flatMap(([name, { kind }]) =>
    kind === 'always' ? presentAtEnd(name, sights, executions) : [],
  )
  return [calls, operations, taken, lived, met, present].filter(list => list.length > 0).map(list => list.join(', '))
}

const shownSubjectsMax = 3

/** What an `always` property reads, and how often it was present. The rarest come first. */
const presentAtEnd = (name: string, sights: readonly Sight[], executions: number): string[] => {
  const all = subjectsOf(name, sights).filter(({ path }) => isOfUsers(path))
  const subjects = all
    .filter(({ path }) => !all.some(other => other.path.startsWith(`${path}.`) || other.path.startsWith(`${path}[]`)))
    .sort((one, other) => one.atEnd - other.atEnd)
    .slice(0, shownSubjectsMax)
    .map(subject => `${shownPath(subject)} of ${name} was there at the end of ${subject.atEnd}`)
  return subjects.length === 0 ? [] : [`${subjects.join(', ')} of ${counted(executions, 'execution')}`]
}
