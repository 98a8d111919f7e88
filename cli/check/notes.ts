import { relative } from 'node:path'
import { counted, shownList } from '../../checker/system/brief.ts'
import { callerIn, inputsIn } from '../../checker/system/labels.ts'
import type { Property } from '../../checker/system/property.ts'
import { inSeconds } from '../../checker/system/show.ts'
import { propertySight, subjectsOf } from '../../checker/system/subjects.ts'
import type { Sight } from '../../checker/system/system.ts'
import { countOf, type Met } from '../../checker/verdict/sights.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { sightOf } from '../../harness/clients/sights.ts'
import type { FaultKind, GlobalState, ResolvedNode, ResolvedSystem } from '../../harness/config/config.ts'
import { observedNothing } from '../../harness/config/observed.ts'
import { quotedForShell } from '../../report/model/quoted.ts'
import { type CheckOptions, defaultMs } from '../command/options.ts'
import { type MetClient, type MetEventually, type MetHeldBack, metBy, type WhatWasMet } from './met.ts'
import { isOfUsers, isWhole, shownPath } from './subjects.ts'

/**
 * Things that the configuration mentions but the search never met, one line each. `held` says nothing about them.
 *
 * @param isAlone whether mostly single nodes were executed, and the whole system hardly ever
 */
export const neverMet = (system: ResolvedSystem, met: Met, { isAlone = false } = {}): string[] => [
  ...(isAlone ? aboutAlone(system) : aboutProperties(system, met)),
  ...aboutMet(metBy(system, met)),
  ...Object.entries(system.properties).flatMap(([name, property]) => aboutBound(name, property)),
  // Steps of nodes alone belong to no execution of the whole system.
  ...(isAlone ? [] : Object.entries(system.faults)).flatMap(([kind, budget]) =>
    aboutFault(kind as FaultKind, budget, system, met),
  ),
]

const aboutMet = ({ clients, eventually, heldBack }: WhatWasMet): string[] => [
  ...Object.entries(clients).flatMap(([name, client]) => aboutClient(name, client)),
  ...Object.entries(eventually).flatMap(([name, property]) => aboutEnds(name, property)),
  ...Object.entries(heldBack).map(([by, nodes]) => aboutHeldBack(by as keyof typeof whileHeld, nodes)),
]

const aboutProperties = ({ properties, observe, nodes }: ResolvedSystem, { sights }: Met): string[] => {
  if (!Object.values(properties).some(({ kind }) => kind !== 'sometimes'))
    return [
      'there are no properties, so only crashes and divergences were looked for',
      ...Object.keys(properties).flatMap(name => aboutGoal(name, sights)),
    ]
  if (observe && !nodes.some(({ name }) => countOf(sights, sightOf.state(name)) > 0)) return [observedNothing]
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
const aboutBound = (name: string, { withinMs, when }: Pick<Property<GlobalState>, 'withinMs' | 'when'>): string[] =>
  withinMs === undefined || when !== undefined
    ? []
    : [
        `${name} was checked without its bound of ${inSeconds(withinMs)}, because a search may delay messages without limit; emulate, and verify of its trace, judge it`,
      ]

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
  // Reads of a fold are not watched.
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

/** A client that achieves nothing puts nothing to the test, whatever the verdict says. */
const aboutClient = (
  name: string,
  { calls, returned, threw, refused, firstError, firstRefusal }: MetClient,
): string[] => {
  if (calls === 0) return [`client ${name} was never called`]
  const failed = threw + refused
  if (returned + threw === 0) return [`client ${name} never returned in ${counted(calls, 'call')}`]
  if (returned === 0)
    return [
      `client ${name} never returned a result: ${threw} of ${counted(calls, 'call')} threw, the first "${firstError}"`,
    ]
  if (failed <= (returned + threw) / 2) return []
  const ways = [
    ...(threw > 0 ? [`${threw} threw, the first "${firstError}"`] : []),
    ...(refused > 0 ? [`${refused} ended with an HTTP error, the first ${firstRefusal}`] : []),
  ]
  return [`client ${name} failed in ${failed} of ${counted(calls, 'call')}: ${ways.join('; ')}`]
}

/** A state that recovers only because a node is gone is often one that is stuck while the node is there. */
const aboutEnds = (name: string, { again, againAfterEnd, againAfterEndOf }: MetEventually): string[] => {
  if (again === 0 || againAfterEnd < again) return []
  const nodes = Object.keys(againAfterEndOf)
  const always = nodes.filter(node => againAfterEndOf[node] === again)
  const ended = always.length > 0 ? `node ${always.join(' and ')}` : `one of the nodes ${nodes.join(', ')}`
  return [`${name}, once false, held again only after ${ended} had ended`]
}

const whileHeld = {
  delay: 'while a message was in flight',
  clocks: 'while another node’s timer was due before',
} as const

/** A fault that needs a timer before a message, or one timer before another, is impossible where a bound says so. */
const aboutHeldBack = (by: keyof typeof whileHeld, nodes: Readonly<Record<string, MetHeldBack>>): string => {
  const each = Object.entries(nodes)
    .toSorted(([, one], [, other]) => other.states - one.states)
    .map(
      ([node, { states, fired, example }]) =>
        `of ${node} in ${counted(states, 'state')} (such as ${example}; fired ${counted(fired, 'time')})`,
    )
  return `\`${by}\` held timers back ${whileHeld[by]}: ${shownList(each)}`
}

/** A recovery that takes a call is met by no walk from a state after which no client may call any more. */
export const aboutCallsLeft = (
  { clients }: Pick<ResolvedSystem, 'clients'>,
  { kind, criticalTransition, schedule }: Pick<Verdict, 'kind' | 'criticalTransition' | 'schedule'>,
): string[] => {
  if (kind !== 'liveness' || criticalTransition === null || clients.length === 0) return []
  const made = (client: string) =>
    schedule.flatMap(label => [label, ...inputsIn(label)]).filter(label => callerIn(label) === client).length
  if (clients.some(({ name, times, until }) => until !== undefined || made(name) < times)) return []
  return [
    `no client had a call left after step ${criticalTransition.step}, so a recovery that takes one could not be seen: \`times\` of a client gives it more calls`,
  ]
}

/** An execution finds what earlier ones wrote to the machine itself, so what was found there may not repeat. */
export const aboutWrites = (
  { nodes }: { readonly nodes: readonly Pick<ResolvedNode, 'name' | 'write'>[] },
  { verdict }: Pick<Verdict, 'verdict'>,
): string[] => {
  const writing = nodes.filter(({ write }) => write.length > 0)
  if (verdict !== 'undetermined' || writing.length === 0) return []
  const places = [...new Set(writing.flatMap(({ write }) => write))]
  const who = writing.map(({ name }) => name)
  return [
    `${who.join(', ')} may write to ${places.join(', ')} of this machine (\`write\`), which no execution undoes: each finds what those before it left there`,
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
  const said = kind === 'preempt' ? `threads is ${budget}` : `faults has ${kind}: ${budget}`
  return [`no ${kind} ever happened, though ${said}${why}`]
}

/** A note with the command that goes on where something could not be decided, for ten times as long. */
export const furtherThan = (
  path: string,
  { property, kind, seed }: Pick<Verdict, 'property' | 'kind' | 'seed'>,
  trace: string,
  options: CheckOptions,
): string[] => {
  if (path === '' || property === null || kind !== 'liveness') return []
  const { milliseconds = defaultMs, rewind } = options
  const deeper = deeperThan(path, { seed: seed - 1 }, { milliseconds, rewind, property, from: relative('', trace) })
  return [`to examine it further: ${deeper}`]
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
