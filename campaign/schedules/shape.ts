import { type Described, readLabel } from '../../checker/system/labels.ts'

/** The parts of a label that another version of the service may phrase differently. */
interface Shape {
  /** Kind and nodes. Equal for two labels that may replace each other. */
  readonly frame: string
  /** Words of the message in order. */
  readonly words: readonly string[]
}

const isLength = (word: string) => word === 'byte' || word === 'bytes'

/** @param rename gives each node the name that it has in the shape; by default its own */
export const shapeOf = (label: string, rename?: (node: string) => string): Shape =>
  shapeOfParts(readLabel(label), rename)

const shapeOfParts = (
  { kind, node, from, to, subject, joins }: Described,
  rename = (node: string): string => node,
): Shape => {
  if (joins) {
    const all = joins.map(each => shapeOfParts(each, rename))
    return { frame: `overlap ${all.map(({ frame }) => frame).join(' & ')}`, words: all.flatMap(({ words }) => words) }
  }
  if (from === undefined || to === undefined) return { frame: frameOf(subject, kind, node && rename(node)), words: [] }
  const words = (subject.toLowerCase().match(/\p{L}+/gu) ?? []).filter(word => !isLength(word))
  return { frame: `${kind === 'deliver' ? '' : `${kind} `}${rename(from)}→${rename(to)}`, words }
}

const frameOf = (subject: string, kind: Described['kind'], node: string | undefined): string => {
  if (node === undefined) return subject
  if (kind === 'timer') return `${node} ${subject}`
  const [does, , ...how] = subject.split(' ')
  return [does, node, ...how].join(' ')
}

/** The first words of a message tell its kind; later ones are its content. */
const kindWords = 2

/** Kind of the choice, its nodes, and the kind of the message. */
export const kindOfShape = (label: string, rename?: (node: string) => string): string => {
  const { frame, words } = shapeOf(label, rename)
  return [frame, ...words.slice(0, kindWords)].join(' ')
}

/**
 * How well an enabled step can replace one that is not enabled: from 0, for another kind of step or other nodes, to 1.
 * A step that differs only in numbers ranks above all others.
 */
export const likeness = (offered: string, wanted: string): number => {
  const [first, second] = [readLabel(offered), readLabel(wanted)]
  const [one, other] = [shapeOfParts(first), shapeOfParts(second)]
  if (one.frame !== other.frame) return 0
  if (subjectsOf(first) === subjectsOf(second)) return 0.75 + 0.25 / (1 + distance(numbersOf(first), numbersOf(second)))
  return 0.01 + 0.7 * shared(one.words, other.words)
}

const subjectsOf = ({ subject, joins }: Described): string => (joins ? joins.map(subjectsOf).join(' & ') : subject)

const numbersOf = ({ ordinal, numbers, joins }: Described): readonly number[] =>
  joins ? joins.flatMap(numbersOf) : [...(ordinal === undefined ? [] : [ordinal]), ...numbers]

const distance = (some: readonly number[], others: readonly number[]): number =>
  some.reduce((sum, number, index) => sum + Math.abs(number - (others[index] ?? number)), 0)

/** Dice's coefficient: the share of words that both have. */
const shared = (some: readonly string[], others: readonly string[]): number => {
  const left = [...others]
  const both = some.filter(word => {
    const at = left.indexOf(word)
    if (at !== -1) left.splice(at, 1)
    return at !== -1
  })
  return some.length + others.length === 0 ? 1 : (2 * both.length) / (some.length + others.length)
}
