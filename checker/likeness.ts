import type { Described } from './labels.ts'
import type { Choice } from './system.ts'

// In which ways two choices of different states, or of different executions, are the same.

/** From where to where a message goes; of anything else, the node that it acts on. */
export const wayOf = ({ from, to, node }: Choice): string => (from === undefined ? node : `${from}→${to}`)

/** Equal for choices that do the very same, whatever ordinals their messages have. */
export const identityOf = (choice: Choice): string =>
  choice.joins
    ? `overlap ${choice.joins.map(identityOf).join(' & ')}`
    : `${saidBy(choice)} ${choice.connection} ${choice.hash}`

/** Equal for choices that read the same, whatever ordinals and bytes their messages have. */
export const saidBy = ({ kind, node, from, to, subject, numbers, joins }: Described): string =>
  joins ? `overlap ${joins.map(saidBy).join(' & ')}` : [kind, node, from, to, subject, ...numbers].join(' ')

/** Whether two messages say the same, whoever sends them. */
export const sayTheSame = (one: Choice, other: Choice): boolean =>
  one.subject === other.subject && one.numbers.join() === other.numbers.join()

/** Whether a choice is the same as what is described, whatever the numbers. */
export const isLike = (choice: Choice, wanted: Described): boolean =>
  isOfKind(choice, wanted) && choice.subject === wanted.subject && joinAlike(choice, wanted, isLike)

/** Whether a choice is a message on the same way with the same words, but for those with a digit in them and what is quoted. */
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

/** How far apart two alike choices are: first by the numbers in what they say, then by their places in the order of sending. */
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
