import type { Described } from './labels.ts'
import type { Choice } from './system.ts'

// How choices of different states or executions are compared.

/** Sender and receiver of a message; for other choices, the node. */
export const wayOf = ({ from, to, node }: Choice): string => (from === undefined ? node : `${from}→${to}`)

/** Equal for choices with the same content and bytes, whatever the ordinals of their messages. */
export const identityOf = (choice: Choice): string =>
  choice.joins
    ? `overlap ${choice.joins.map(identityOf).join(' & ')}`
    : `${saidBy(choice)} ${choice.connection} ${choice.hash}`

/** Equal for choices with the same text, whatever the ordinals and bytes of their messages. */
export const saidBy = ({ kind, node, from, to, subject, numbers, joins }: Described): string =>
  joins ? `overlap ${joins.map(saidBy).join(' & ')}` : [kind, node, from, to, subject, ...numbers].join(' ')

/** Whether two messages have the same text, whoever sends them. */
export const sayTheSame = (one: Choice, other: Choice): boolean =>
  one.subject === other.subject && one.numbers.join() === other.numbers.join()

/** Whether a choice matches a description, apart from numbers. */
export const isLike = (choice: Choice, wanted: Described): boolean =>
  isOfKind(choice, wanted) && choice.subject === wanted.subject && joinAlike(choice, wanted, isLike)

/**
 * Whether a choice is a message between the same nodes with the same words, apart from quoted text and words with a
 * digit.
 */
export const isAlikeInOutline = (choice: Choice, wanted: Described): boolean =>
  wanted.ordinal !== undefined && isOfKind(choice, wanted) && outline(choice.subject) === outline(wanted.subject)

const isOfKind = ({ kind, node, from, to }: Choice, wanted: Described): boolean =>
  (wanted.kind === undefined || kind === wanted.kind) &&
  (wanted.from === undefined
    ? wanted.node === undefined || node === wanted.node
    : from === wanted.from && to === wanted.to)

const joinAlike = (
  { joins = [] }: Choice,
  { joins: wanted = [] }: Described,
  areAlike: (one: Choice, other: Described) => boolean,
): boolean => joins.length === wanted.length && joins.every((each, index) => areAlike(each, wanted[index]!))

const outline = (subject: string): string =>
  subject
    .replace(/".*/, '"')
    .split(' ')
    .filter(word => !/\d/.test(word))
    .join(' ')

/** Distance between two matching choices: first by the numbers in their text, then by their ordinals. */
export const distanceTo = (choice: Choice, wanted: Described): readonly [said: number, place: number] => {
  const joined = (choice.joins ?? []).map((each, index) => distanceTo(each, wanted.joins![index]!))
  return [
    numbersBetween(choice.numbers, wanted.numbers) + sum(joined.map(([said]) => said)),
    Math.abs((choice.ordinal ?? 0) - (wanted.ordinal ?? choice.ordinal ?? 0)) + sum(joined.map(([, place]) => place)),
  ]
}

const numbersBetween = (some: readonly number[], others: readonly number[]): number =>
  sum(some.map((number, index) => Math.abs(number - (others[index] ?? number))))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
