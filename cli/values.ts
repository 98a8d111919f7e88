import { InvalidArgumentError } from 'commander'

/** Values of options, as the parser of the command line calls them. */

const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** In milliseconds. */
export const duration = (text: string): number => {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('expected a duration such as 60s, 500ms, 5m or 1h.')
  return Number(number) * milliseconds[unit as keyof typeof milliseconds]
}

export const wholeNumber = (text: string): number => {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('expected a whole number.')
  return Number(text)
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
