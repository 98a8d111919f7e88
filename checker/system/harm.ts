import { type CallFault, callFaultIn } from '../happening/call-faults.ts'
import { type DiskFailure, diskFailureIn } from '../happening/disk-failures.ts'
import { narrowerThan } from './narrowed.ts'
import type { Choice } from './system.ts'

/** How much harm a fault does, for comparison with faults that may replace it. */
interface Harm {
  /** Faults of one family on one node, or on the network, are compared. */
  readonly family: string
  readonly degrees: readonly number[]
  /** Of a cut: the ways that it cuts. A cut is milder than another only if its ways are a subset. */
  readonly ways?: ReadonlySet<string>
}

/**
 * Enabled choices that do less harm than a fault, the mildest first. A crash of which peers are told is milder than a
 * silent one, and that is milder than a power failure. Power failures are ordered by what they lose: nothing, one
 * operation, the last ones, all, and last a torn one. A fault at rest is milder than one within a step, a jump of a
 * clock milder than a jump by hours, a cut milder than one of more ways. A preemption at fewer calls is milder, though
 * no choice is listed for it. A disk that takes a part of a write is milder than a full one, that than one that fails to
 * sync, and that than one that lies. A wait that ends early is milder than a call that does less, and that than one that
 * fails. Of two alike, the one that strikes sooner is simpler, but a disk that is full from a later write takes more.
 */
export const milderThan = (fault: Choice, enabled: readonly Choice[]): Choice[] => {
  if (fault.kind === 'preempt') return narrowerThan(fault)
  const harm = harmOf(fault)
  if (!harm) return []
  return enabled
    .flatMap(choice => {
      const other = harmOf(choice)
      return other && isMilder(other, harm) ? [{ choice, degrees: other.degrees }] : []
    })
    .sort((one, other) => compare(one.degrees, other.degrees))
    .map(({ choice }) => choice)
}

const isMilder = (one: Harm, other: Harm): boolean =>
  one.family === other.family &&
  compare(one.degrees, other.degrees) < 0 &&
  [...(one.ways ?? [])].every(way => other.ways!.has(way))

const compare = (some: readonly number[], others: readonly number[]): number => {
  for (const [index, one] of some.entries()) if (one !== others[index]) return one - (others[index] ?? 0)
  return some.length - others.length
}

const harmOf = ({ kind, node, label }: Choice): Harm | undefined => {
  const ends = (...degrees: number[]): Harm => ({ family: `end of ${node}`, degrees })
  switch (kind) {
    case 'crash':
      return ends(0)
    case 'silent':
      return ends(1)
    case 'power':
      return ends(2, ...lossIn(label))
    case 'reset':
      return isResetOfNode.test(label)
        ? { family: `reset of ${node}`, degrees: [label.endsWith(' silently') ? 1 : 0] }
        : undefined
    case 'clock':
      return { family: `clock of ${node}`, degrees: [label.endsWith('h') ? 1 : 0] }
    case 'disk': {
      const failure = strikeAfter(label, `disk ${node} `, diskFailureIn)
      return failure && { family: `disk of ${node}`, degrees: degreesOfDisk(failure) }
    }
    case 'calls': {
      const fault = strikeAfter(label, `calls ${node} `, callFaultIn)
      return fault && { family: `calls of ${node}`, degrees: [mildestCalls.indexOf(fault.what), fault.at] }
    }
    case 'partition': {
      const ways = waysIn(label)
      return ways && { family: 'cut', degrees: [ways.size], ways }
    }
    default:
      return undefined
  }
}

const strikeAfter = <Strike>(label: string, beginning: string, read: (said: string) => Strike | undefined) =>
  label.startsWith(beginning) ? read(label.slice(beginning.length)) : undefined

const mildestDisks: readonly DiskFailure['what'][] = ['short', 'full', 'sync', 'lost', 'misdirected', 'rotten']
const mildestCalls: readonly CallFault['what'][] = ['interrupted', 'woken', 'read', 'write', 'descriptor']

const degreesOfDisk = ({ what, at }: DiskFailure): readonly number[] => [
  mildestDisks.indexOf(what),
  what === 'full' ? -at : at,
]

const isResetOfNode = /^reset [^\s→]+(?: silently)?$/

/** In the middle of a step or not, how it is lost, and how much of it. */
const lossIn = (label: string): readonly number[] => {
  const later = / before sync or message (\d+) keeps (all|none|a torn end)$/.exec(label)
  if (later) return [1, ['all', 'none', 'a torn end'].indexOf(later[2]!), Number(later[1])]
  const [, kept = '0', all = '0', how = ''] = / keeps (\d+) of (\d+)(.*)$/.exec(label) ?? []
  const lost = Number(all) - Number(kept)
  if (how.endsWith(' torn')) return [0, 4, lost]
  if (lost === 0) return [0, 0, 0]
  if (how.startsWith(', without ')) return [0, 1, lost]
  return [0, Number(kept) > 0 ? 2 : 3, lost]
}

/** The ways that a cut takes; undefined for one that says something else, as those of timed runs. */
const waysIn = (label: string): ReadonlySet<string> | undefined => {
  const [, some, isBoth, others] = /^(?:partition|cut) ([^|→]+?)(?:( \| )|→)([^|→]+)$/.exec(label) ?? []
  if (some === undefined || others === undefined) return undefined
  const pairs = some.split(' ').flatMap(one => others.split(' ').map(other => [one, other] as const))
  return new Set(pairs.flatMap(([one, other]) => [`${one}→${other}`, ...(isBoth ? [`${other}→${one}`] : [])]))
}
