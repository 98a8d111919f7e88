import { type About, type ChoiceKind, faultKinds } from './system.ts'

// The only file that takes labels apart. A choice has its parts beside its label; of a schedule from a file there are labels alone.

/** The labels of some choices, or of messages. */
export const labelsOf = (labelled: readonly { readonly label: string }[]): string[] =>
  labelled.map(({ label }) => label)

/** What a label tells of its choice. */
export interface Described extends About {
  /** Absent where the label does not tell. */
  readonly kind?: ChoiceKind
  readonly node?: string
  readonly joins?: readonly Described[]
}

// Neither a part of a word, as in `n1`, nor of another number.
const standingAlone = /(?<![\w.])\d+(?:\.\d+)?/g

/** A text in two parts: what is left without its numbers, and the numbers. `vote term=4`: `vote term=` and 4. */
export const numbersApart = (text: string): Pick<About, 'subject' | 'numbers'> => ({
  subject: text.replaceAll(standingAlone, ''),
  numbers: Array.from(text.matchAll(standingAlone), Number),
})

/**
 * The parts of a label: `n1→n2 #3 vote term=4`, `drop n1→n2 #3 vote term=4`, `reset n1→n2 connection 1 :80`, `n1 timer +250ms`,
 * `overlap n1→n2 #3 vote & n2 timer +250ms`, and anything else, which begins with its kind.
 */
export const readLabel = (label: string): Described =>
  overlapIn(label) ?? timerIn(label) ?? messageIn(label) ?? connectionIn(label) ?? otherIn(label)

/** What a message says may have `&` in it, too: only before another input it joins two. */
const betweenInputs = / & (?=\S+→\S+ #\d|\S+ timer(?: \+|$))/

const overlapIn = (label: string): Described | undefined => {
  const joined = /^overlap (.*)$/s.exec(label)?.[1]
  if (joined === undefined) return undefined
  const joins = joined.split(betweenInputs).map(readLabel)
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
    /^(?:(drop|duplicate) )?([^\s→]+)→(\S+) #(\d+)(?: (.*))?$/s.exec(label) ?? []
  if (from === undefined || to === undefined) return undefined
  return { kind: kind as ChoiceKind, node: to, from, to, ordinal: Number(ordinal), ...numbersApart(words ?? '') }
}

const connectionIn = (label: string): Described | undefined => {
  const [, from, to, connection] = /^reset ([^\s→]+)→(\S+) connection (\d+)/.exec(label) ?? []
  if (from === undefined || to === undefined) return undefined
  return { kind: 'reset', node: from, from, to, connection: Number(connection), ...numbersApart(label) }
}

const kindsByFirstWord: ReadonlyMap<string, ChoiceKind> = new Map<string, ChoiceKind>([
  ...(['client', 'restart', 'heal', ...faultKinds] as const).map(kind => [kind, kind] as const),
  ['cut', 'partition'],
])

const otherIn = (label: string): Described => {
  const kind = kindsByFirstWord.get(label.split(' ', 1)[0]!)
  return { ...(kind && { kind }), ...numbersApart(label) }
}

/** Labels of the inputs, messages and timers, that a choice lets in, or of the message that it drops. */
export const inputsIn = (label: string): readonly string[] => {
  const { kind } = readLabel(label)
  if (kind === 'deliver' || kind === 'timer') return [label]
  if (kind === 'drop') return [label.slice('drop '.length)]
  return kind === 'overlap' ? label.slice('overlap '.length).split(betweenInputs) : []
}

/** In a run at the pace native labels begin with their time: `12.50 s n1→n2 cut`. */
const withoutTime = (label: string): string => label.replace(/^\d+\.\d+ s /, '')

/** What a choice cuts, by name: one way of a run at the pace native, or whatever its label says; `undefined` where it cuts nothing. */
export const cutBy = (label: string): string | undefined => {
  const text = withoutTime(label)
  return /^(partition|cut) /.test(text) ? text : /^(\S+→\S+) cut/.exec(text)?.[1]
}

/** Whether a choice that heals ends the cut of this name: all of them, or of a run at the pace native one way. */
export const isHealedBy = (label: string, cut: string): boolean => {
  const text = withoutTime(label)
  return text === 'heal' || /^(\S+→\S+) joined/.exec(text)?.[1] === cut
}
