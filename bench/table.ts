/** Prints one line of the table: what was measured, how much it was, and of what. */
export const row = (what: string, figure: string, unit: string): void =>
  console.log(`${what.padEnd(52)} ${figure.padStart(10)} ${unit}`)

export const whole = (figure: number): string => Math.round(figure).toLocaleString('en')

/** The middle one of an odd number of figures. */
export const median = (figures: readonly number[]): number =>
  figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)]!
