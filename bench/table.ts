/** Prints one line of the table: what was measured, the figure, and its unit. */
export const row = (what: string, figure: string, unit: string): void =>
  console.log(`${what.padEnd(52)} ${figure.padStart(10)} ${unit}`)

export const whole = (figure: number): string => Math.round(figure).toLocaleString('en')

/** The median of an odd number of figures. */
export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
