import { InvalidArgumentError } from 'commander'
import { shareMax } from '../../harness/hold/turns/courtesy.ts'

/** Parsers for option values, as commander calls them. */

/** The largest delay of a Node.js timer. A larger one would fire at once. */
export const timerMsMax = 2 ** 31 - 1

/** Numbers up to this are exact, even after adding some thousands. */
const wholeNumberMax = 2 ** 52

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** A duration in milliseconds. */
export const duration = (text: string): number => {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('expected a duration such as 60s, 500ms, 5m or 1h.')
  const time = Number(number) * milliseconds[unit as keyof typeof milliseconds]
  if (time > timerMsMax) throw new InvalidArgumentError('expected at most 24 days.')
  return time
}

export const wholeNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number.')
  if (Number(text) > wholeNumberMax) throw new InvalidArgumentError(`expected a whole number up to ${wholeNumberMax}.`)
  return Number(text)
}

export const wholeNumberAboveZero = (text: string): number => {
  const count = wholeNumber(text)
  if (count === 0) throw new InvalidArgumentError('expected a whole number of at least 1.')
  return count
}

export const port = (text: string): number => {
  const value = wholeNumber(text)
  if (value > 65_535) throw new InvalidArgumentError('expected a port, from 0 to 65535.')
  return value
}

export const aboveZero = (text: string): number => {
  if (!/^\d+(\.\d+)?$/.test(text) || Number(text) === 0) throw new InvalidArgumentError('expected a number above zero.')
  return Number(text)
}

export const atLeastZero = (text: string): number => {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('expected a number of at least 0.')
  return Number(text)
}

export const share = (text: string): number => {
  const value = atLeastZero(text)
  if (value > 1) throw new InvalidArgumentError('expected a number from 0 to 1.')
  return value
}

/** Of a CPU. */
export const shareOfCpu = (text: string): number => {
  const value = atLeastZero(text)
  if (value > shareMax) throw new InvalidArgumentError(`expected a number from 0 to ${shareMax}.`)
  return value
}

export const onOff = (text: string): boolean => {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError("expected 'on' or 'off'.")
  return text === 'on'
}

export const pace = (text: string): 'virtual' | 'real' | 'native' => {
  if (text !== 'virtual' && text !== 'real' && text !== 'native')
    throw new InvalidArgumentError("expected 'virtual', 'real' or 'native'.")
  return text
}

/** How a run is steered. */
export const steerings = (text: string): 'check' | 'predict' | 'both' => {
  if (text !== 'check' && text !== 'predict' && text !== 'both')
    throw new InvalidArgumentError("expected 'check', 'predict' or 'both'.")
  return text
}
