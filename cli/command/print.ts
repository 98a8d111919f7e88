/** Prints lines to stdout. */
export const print = (lines: string | readonly string[]) => process.stdout.write(`${[lines].flat().join('\n')}\n`)
