import { TopologyError } from '../error.ts'

/** A line of a file of words. */
export interface Line {
  /** Counted from 1. */
  readonly number: number
  readonly words: readonly string[]
}

/** The lines that have words. */
export const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .map((content, index) => ({ number: index + 1, words: content.split(/\s+/).filter(word => word !== '') }))
    .filter(({ words }) => words.length > 0)

/** Some words of a line as numbers. Throws a `TopologyError` with the line, and what it should be, if one is none. */
export const numbersOf = ({ number, words }: Line, what: string, places: readonly number[]): number[] =>
  places.map(place => {
    const value = Number(words[place])
    if (words[place] === undefined || !Number.isFinite(value))
      throw new TopologyError(`line ${number}: expected "${what}", found "${words.join(' ')}"`)
    return value
  })

/** The lines between a heading and the next one, or the end. Throws a `TopologyError` if the heading is not there. */
export const section = (lines: readonly Line[], heading: string, headings: readonly string[]): Line[] => {
  const start = lines.findIndex(({ words }) => words[0]!.startsWith(heading))
  if (start === -1) throw new TopologyError(`expected a line that begins with "${heading}", found none`)
  const rest = lines.slice(start + 1)
  const end = rest.findIndex(({ words }) => headings.some(other => words[0]!.startsWith(other)))
  return end === -1 ? rest : rest.slice(0, end)
}
