import { UsageError } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import type { Choice } from '../../checker/system/system.ts'
import { nearest } from '../../harness/config/config.ts'

/**
 * One step given by hand, or several: `n1→n2 vote`, `n1→n2 ×3`, `earliest timer`, `earliest timer of n2`, `all`, `all n1→n2`,
 * `all until n3→n1 vote`.
 */
export type StepPattern =
  | { readonly is: 'step'; readonly name: string }
  | { readonly is: 'earliest'; readonly node: string | undefined }
  /** The first step with these words, so many times. */
  | { readonly is: 'times'; readonly words: string; readonly times: number }
  /** Messages with these words, until none is left, or until a step with others could be taken. */
  | { readonly is: 'all'; readonly words: string; readonly until: string | undefined }

const stepPatternOf = (text: string): StepPattern => {
  const [, earliest, node] = /^(?:the )?(earliest timer)(?: of (\S+))?$/.exec(text) ?? []
  if (earliest !== undefined) return { is: 'earliest', node }
  const [, words, times] = /^(.*\S) [×x](\d+)$/.exec(text) ?? []
  if (words !== undefined) return { is: 'times', words, times: Number(times) }
  const [, all, of = '', until] = /^(?:deliver )?(all)(?: (?!until )(.*?))?(?: until (.+))?$/.exec(text) ?? []
  if (all !== undefined) return { is: 'all', words: of, until }
  return { is: 'step', name: text }
}

/** With more, a pattern that never ends would look like one that takes long. */
const stepsMax = 10_000

/**
 * The steps that a pattern means, each once the one before was executed.
 *
 * @param enabled returns the steps that can be executed now
 *
 * @param step the number of the next step, for messages
 *
 * @throws UsageError if a name matches no enabled step, or more than one
 */
export function* stepsOf(text: string, enabled: () => readonly Choice[], step: () => number): Generator<Choice, void> {
  const exact = enabled().find(({ label }) => label === text)
  const pattern: StepPattern = exact ? { is: 'step', name: text } : stepPatternOf(text)
  if (pattern.is === 'step') yield meant(pattern.name, enabled(), step())
  else if (pattern.is === 'earliest') yield earliestTimer(text, pattern.node, enabled(), step())
  else if (pattern.is === 'times')
    for (let left = pattern.times; left > 0; left--) yield first(pattern.words, enabled(), step())
  else yield* all(text, pattern, enabled)
}

function* all(
  text: string,
  { words, until }: Extract<StepPattern, { is: 'all' }>,
  enabled: () => readonly Choice[],
): Generator<Choice, void> {
  for (let steps = 0; ; steps++) {
    if (steps === stepsMax) throw new UsageError(`"${text}" has not come to an end after ${stepsMax} steps`)
    const now = enabled()
    if (until !== undefined && now.some(choice => hasWords(choice, until))) return
    const next = now.find(choice => choice.kind === 'deliver' && hasWords(choice, words))
    if (next) {
      yield next
      continue
    }
    if (until === undefined) return
    throw new UsageError(`"${text}" ended without "${until}": ${nearest(until, labelsOf(now))}`)
  }
}

/** Of one node, or of all: the one that is due first, by the clock of its node. */
const earliestTimer = (text: string, node: string | undefined, enabled: readonly Choice[], step: number): Choice => {
  const timers = enabled.filter(choice => choice.kind === 'timer' && (node === undefined || choice.node === node))
  const [earliest] = timers.toSorted((one, other) => (one.afterMs ?? 0) - (other.afterMs ?? 0))
  if (earliest) return earliest
  throw notEnabled(text, enabled, step)
}

const first = (words: string, enabled: readonly Choice[], step: number): Choice => {
  const found = enabled.find(({ label }) => label.startsWith(words)) ?? enabled.find(choice => hasWords(choice, words))
  if (found) return found
  throw notEnabled(words, enabled, step)
}

const hasWords = ({ kind, label }: Choice, words: string): boolean =>
  isPlain(kind) && wordsOf(words).every(word => label.includes(word))

const wordsOf = (text: string): string[] => text.split(/\s+/).filter(word => word !== '' && word !== '…')

/** Other choices than messages, timers and calls must be named from their beginning. */
const isPlain = (kind: Choice['kind']): boolean => kind === 'client' || kind === 'deliver' || kind === 'timer'

/**
 * The step that a name means: the one with this label, else the only one that begins with it, else the only one with
 * all of its words.
 */
const meant = (name: string, enabled: readonly Choice[], step: number): Choice => {
  const ways = [
    enabled.filter(({ label }) => label === name),
    enabled.filter(({ label }) => label.startsWith(name)),
    enabled.filter(choice => hasWords(choice, name)),
  ]
  const found = ways.find(choices => choices.length > 0) ?? []
  if (found.length === 1) return found[0]!
  if (found.length > 1)
    throw new UsageError(`step ${step}: "${name}" may be any of ${found.map(({ label }) => `"${label}"`).join(', ')}`)
  throw notEnabled(name, enabled, step)
}

const notEnabled = (name: string, enabled: readonly Choice[], step: number): UsageError =>
  new UsageError(`step ${step}: "${name}" is not enabled; ${nearest(name, labelsOf(enabled))}`)
