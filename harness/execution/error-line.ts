/** How programs report what ended them: functions that extract it from their output. The first match counts. */
const manners: readonly ((output: string) => string | undefined)[] = [
  // Go, Rust
  output => lineWith(output, /^(panic: |fatal error: |thread '.*' panicked at )/),
  // Python: the line after the indented ones. Of several tracebacks, the last one ended the program.
  output => {
    const [, after] = /^Traceback \(most recent call last\):\n((?:.|\n)*)/m.exec(lastTraceback(output)) ?? []
    return after?.split('\n').find(line => /^\S/.test(line))
  },
  // The JVM: nothing caught it, or the program logged it before it ended
  output =>
    joined(
      lineWith(output, /^(Exception in thread |([\w$]+\.)+[\w$]*(Exception|Error)\b)/),
      lineWith(output, /^Caused by: /),
    ),
  // Node.js
  output => joined(lineWith(output, /^(Uncaught )?[\w.]*(Error|Exception)\b.*/), cause(output)),
]

/** The line of a program's output that says what ended it, if there is one. */
export const errorLineOf = (output: string): string | undefined => {
  for (const manner of manners) {
    const line = manner(output)
    if (line !== undefined) return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line
  }
  return undefined
}

/** Limit on its length, so that it stays one line for a reader. */
const lengthMax = 300

/** The last match, because the program survived earlier ones. */
const lineWith = (output: string, pattern: RegExp): string | undefined =>
  output
    .split('\n')
    .findLast(line => pattern.test(line))
    ?.trim()

const lastTraceback = (output: string): string => output.slice(Math.max(0, output.lastIndexOf('\nTraceback ') + 1))

const cause = (output: string): string | undefined =>
  lineWith(output, /^\s*\[cause\]: /)
    ?.replace(/^\[cause\]: /, 'caused by ')
    .replace(/ \{$/, '')

const joined = (first: string | undefined, second: string | undefined): string | undefined =>
  first === undefined || second === undefined ? first : `${first}, ${second}`
