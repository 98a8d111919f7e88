import { isKindOfNetwork, kindByWords, wordsOfNodes } from '../happening/kinds.ts'
import { kindOfChange } from '../happening/ways.ts'
import type { About, ChoiceKind } from './system.ts'

// The only file that parses labels, with `happening/ways.ts` for what lies between nodes. A choice carries its parts beside its label, but a schedule from a file has only
// labels.

/** The labels of choices or messages. */
export const labelsOf = (labelled: readonly { readonly label: string }[]): string[] =>
  labelled.map(({ label }) => label)

/** The parts of a choice that its label contains. */
export interface Described extends About {
  /** Absent if the label does not contain it. */
  readonly kind?: ChoiceKind
  readonly node?: string
  readonly joins?: readonly Described[]
}

// A number that is not part of a word, as in `n1`, or of another number.
const standingAlone = /(?<![\w.])\d+(?:\.\d+)?/g

/** Splits a text into its words and its numbers. `vote term=4` gives `vote term=` and 4. */
export const numbersApart = (text: string): Pick<About, 'subject' | 'numbers'> => {
  const numbers: number[] = []
  const subject = text.replaceAll(standingAlone, number => {
    numbers.push(Number(number))
    return ''
  })
  return { subject, numbers }
}

/**
 * The parts of a label: `n1→n2 #3 vote term=4`, `drop n1→n2 #3 vote term=4`, `divide n1→n2 #3 SET x | GET x`, `split
 * n1→n2 #3 SET x at 1`, `reset n1→n2 connection 1 :80`, `n1 timer +250ms`, `overlap n1→n2 #3 vote & n2 timer +250ms`,
 * `overlap client a & client b`. All other labels begin with a word of their kind.
 */
export const readLabel = (label: string): Described =>
  overlapIn(label) ?? timerIn(label) ?? messageIn(label) ?? connectionIn(label) ?? otherIn(label)

/** A message may contain ` & ` itself, so it separates two inputs only if another input follows. */
const betweenInputs = / & (?=\S+→\S+ #\d|\S+ timer(?: \+|$))/

/** Calls of two clients that begin at once. */
const ofClients = /^client \S+ & client \S+$/

const joinedIn = (joined: string): readonly string[] => joined.split(ofClients.test(joined) ? ' & ' : betweenInputs)

const overlapIn = (label: string): Described | undefined => {
  const joined = /^overlap (.*)$/s.exec(label)?.[1]
  if (joined === undefined) return undefined
  const joins = joinedIn(joined).map(readLabel)
  return {
    kind: 'overlap',
    ...(joins[0]?.node !== undefined && { node: joins[0].node }),
    subject: '',
    numbers: [],
    joins,
  }
}

const timerIn = (label: string): Described | undefined => {
  const [, node, after] = /^(\S+) timer(?: \+(\S*))?$/.exec(label) ?? []
  if (node === undefined) return undefined
  return { kind: 'timer', node, subject: 'timer', numbers: numbersApart(after ?? '').numbers }
}

const messageIn = (label: string): Described | undefined => {
  const [, kind = 'deliver', from, to, ordinal, words] =
    /^(?:(drop|duplicate|divide|split) )?([^\s→]+)→(\S+) #(\d+)(?: (.*))?$/s.exec(label) ?? []
  if (from === undefined || to === undefined) return undefined
  return { kind: kind as ChoiceKind, node: to, from, to, ordinal: Number(ordinal), ...numbersApart(words ?? '') }
}

const connectionIn = (label: string): Described | undefined => {
  const [, from, to, connection] = /^reset ([^\s→]+)→(\S+) connection (\d+)/.exec(label) ?? []
  if (from === undefined || to === undefined) return undefined
  return { kind: 'reset', node: from, from, to, connection: Number(connection), ...numbersApart(label) }
}

const nodeAfter = new RegExp(
  `^(?:${wordsOfNodes.join('|')}|exec|steer pause|split(?= \\S+ at (?:first|half|last)$)) (\\S+)`,
)

const otherIn = (label: string): Described => {
  const kind = kindOfChange(label) ?? kindByWords(label)
  const [, node] = nodeAfter.exec(label) ?? []
  return { ...(kind && { kind }), ...(node !== undefined && { node }), ...numbersApart(label) }
}

/** What the label of a message says after its ordinal: what the message means, or its length and first bytes. */
export const meaningIn = (label: string): string => label.replace(/^[^\s→]+→\S+ #\d+ ?/, '')

/** The label of a message, with another ordinal. */
export const withOrdinal = (label: string, ordinal: number): string => label.replace(/ #\d+/, ` #${ordinal}`)

/** Labels of the inputs (messages and timers) that a choice delivers, or of the message that it drops. */
export const inputsIn = (label: string): readonly string[] => {
  const { kind } = readLabel(label)
  if (kind === 'deliver' || kind === 'timer') return [label]
  if (kind === 'drop') return [label.slice('drop '.length)]
  return kind === 'overlap' ? joinedIn(label.slice('overlap '.length)) : []
}

/** The client whose call a choice begins. */
export const callerIn = (label: string): string | undefined =>
  /^(?:client (.*)|split client (.*) at (?:first|half|last))$/s
    .exec(label)
    ?.slice(1)
    .find(name => name !== undefined)

/** The real client that sends something in a step, and the node to which it does. */
export const visitIn = (label: string): { readonly visitor: number; readonly node: string } | undefined => {
  const [, visitor, node] = /^outside (\d+) sends \d+ bytes to (\S+)$/.exec(label) ?? []
  return visitor === undefined || node === undefined ? undefined : { visitor: Number(visitor), node }
}

/** Whether a step changes the network alone, and no node notices. Timed runs have words of their own for it. */
export const isOfNetwork = (label: string): boolean => {
  const { kind } = readLabel(label)
  return kind !== undefined && isKindOfNetwork(kind)
}
