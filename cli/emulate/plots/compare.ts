import { type RunSeries, valuesOf } from './runs.ts'

/** Runs that are drawn as one, and what they have in common. */
export interface Group {
  readonly name: string
  readonly runs: readonly RunSeries[]
}

/** A figure of a group: of each run the mean of all its values, and of these the mean and the standard deviation. */
export interface Figure {
  readonly group: string
  readonly of: string
  readonly runs: number
  readonly values: number
  readonly mean: number
  readonly deviation: number
}

/** Each run by itself, or together those that differ in their seed alone. */
export const groupsOf = (runs: readonly RunSeries[], bySeed: boolean): Group[] => {
  const nameOf = ({ system, seed }: RunSeries) => (bySeed ? system : `${system}, seed ${seed}`)
  return [...new Set(runs.map(nameOf))].map(name => ({ name, runs: runs.filter(run => nameOf(run) === name) }))
}

export const figuresOf = (groups: readonly Group[]): Figure[] =>
  groups.flatMap(({ name: group, runs }) => {
    const values = runs.map(valuesOf)
    return [...new Set(values.flatMap(each => Object.keys(each)))].map(of => {
      const found = values.flatMap(each => (each[of] ? [each[of]] : []))
      const means = found.map(meanOf)
      const mean = meanOf(means)
      return {
        ...{ group, of, runs: found.length, values: found.reduce((sum, { length }) => sum + length, 0), mean },
        deviation: deviationOf(means, mean),
      }
    })
  })

const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Of a sample; 0 for one value, which says nothing of others. */
const deviationOf = (values: readonly number[], mean: number): number =>
  values.length < 2 ? 0 : Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1))
