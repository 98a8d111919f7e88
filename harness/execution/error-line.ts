/**
 * How programs report what ended them: functions that extract it from their output. The first match counts. What a runtime
 * prints while it ends (errors of destructors, of handlers of its end) is no match.
 */
const manners: readonly ((output: string) => string | undefined)[] = [
  output => ofNode(output),
  output => ofGo(output),
  output => ofRust(output),
  output => ofPython(output),
  output => ofJvm(output),
  // A program that prints its error itself, and ends.
  output => joined(lineWith(beforeTracebacks(output), /^(Uncaught )?[\w.]*(Error|Exception)\b.*/), causeIn(output)),
]

/** The line of a program's output that says what ended it, if there is one. */
export const errorLineOf = (output: string): string | undefined => {
  for (const manner of manners) {
    const line = manner(output)
    if (line !== undefined) return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line
  }
  return undefined
}

/** Characters of the line at most: a longer one would be several lines on a screen. */
const lengthMax = 300

/** The last match, because the program survived earlier ones. */
const lineWith = (output: string, pattern: RegExp): string | undefined =>
  output
    .split('\n')
    .findLast(line => pattern.test(line))
    ?.trim()

const joined = (first: string | undefined, second: string | undefined): string | undefined =>
  first === undefined || second === undefined ? first : `${first}, ${second}`

/** An uncaught error: the place in the source, a line with a caret, the error, and at the end the version of Node.js. */
const ofNode = (output: string): string | undefined => {
  const end = /^Node\.js v\d/m.exec(output)?.index
  const [, ...places] = end === undefined ? [] : output.slice(0, end).split(/^\s*\^+$/m)
  const last = places.at(-1)
  const line = last?.split('\n').find(line => line.trim() !== '')
  return joined(line?.trim(), causeIn(last ?? ''))
}

const causeIn = (output: string): string | undefined =>
  lineWith(output, /^\s*\[cause\]: /)
    ?.replace(/^\[cause\]: /, 'caused by ')
    .replace(/ \{$/, '')

/** A panic of a deferred function is indented below the panic that made it run. */
const ofGo = (output: string): string | undefined =>
  lineWith(output, /^(panic: |fatal error: )/)?.replace(/ \[recovered(, repanicked)?\]$/, '')

/** What Rust prints of a panic. */
interface Panic {
  readonly isOfMain: boolean
  /** Position and message of the panic. */
  readonly line: string
  /** Whether this panic only reports another one. */
  readonly isSecond: boolean
}

/** Messages of a panic that only says that another one could not be continued, or ended a thread that was waited for. */
const aboutAnother =
  /^(panic in a destructor during cleanup|panic in a function that cannot unwind|called `Result::unwrap\(\)` on an `Err` value: Any \{ \.\. \})$/
const abortsAfterTwo = /^(thread panicked while panicking|panic in a destructor during cleanup)/m

const ofRust = (output: string): string | undefined => {
  const found = [...output.matchAll(/^(thread '(.*)' (?:\(\d+\) )?panicked at .*)(?:\n(.*))?/gm)]
  const panics = found.map(
    ([, where, thread, says = '']): Panic => ({
      isOfMain: thread === 'main',
      line: where!.endsWith(':') ? `${where} ${says}`.trim() : where!,
      isSecond: aboutAnother.test(says),
    }),
  )
  const causes = panics.filter(({ isSecond }) => !isSecond)
  // A destructor that panics while a panic goes on comes after the panic that ended the program.
  if (abortsAfterTwo.test(output)) return causes.at(-2)?.line ?? causes.at(-1)?.line
  if (panics.findLast(({ isOfMain }) => isOfMain)?.isSecond) return (causes.at(-1) ?? panics.at(-1))?.line
  return (causes.findLast(({ isOfMain }) => isOfMain) ?? causes.at(-1) ?? panics.at(-1))?.line
}

/** What Python prints of an exception, with all exceptions that it was raised from. */
interface Traceback {
  /** The line before it, which says why it is printed. Of an exception that ended the program, there is none. */
  readonly before: string
  /** Whether it begins at the top of a program, as an exception does that nothing caught. */
  readonly isFromTop: boolean
  readonly line: string | undefined
}

/** Of these the program did not end: Python, or a library, reports them and goes on. */
const ignored =
  /^(Exception ignored |Error in atexit|Error in sys\.excepthook|Task exception was never retrieved|future: <|--- Logging error ---)/
const ofThread = /^(Exception in thread |Process \S+:)/

/** Exceptions in the order in which they are raised from each other are one. */
const between =
  /^\n?(During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):\n\n/
const tracebackHead = /^(?: {2}[+|] )?(?:Exception Group )?Traceback \(most recent call last\):\n/m

const tracebacksIn = (output: string): Traceback[] => {
  const [first = '', ...rest] = output.split(tracebackHead)
  const tracebacks: Traceback[] = []
  let lead = first
  for (const text of rest) {
    const lines = text.split('\n').map(line => line.replace(/^ {2}\| ?/, ''))
    const error = lines.findIndex(line => /^\S/.test(line))
    const follows = between.test(lead)
    const before = follows ? tracebacks.pop()!.before : (lead.trimEnd().split('\n').at(-1) ?? '')
    tracebacks.push({
      before,
      isFromTop: /, in (<module>|_run_module_as_main)$/.test(lines[0] ?? ''),
      line: lines[error],
    })
    lead =
      error < 0
        ? ''
        : text
            .split('\n')
            .slice(error + 1)
            .join('\n')
  }
  return tracebacks
}

const ofPython = (output: string): string | undefined => {
  const counting = tracebacksIn(output).filter(({ before, line }) => line !== undefined && !ignored.test(before))
  const ofMain = counting.filter(({ before }) => !ofThread.test(before))
  return (ofMain.findLast(({ isFromTop }) => isFromTop) ?? ofMain.at(-1) ?? counting.at(-1))?.line
}

/** The output before the first traceback, without the line that says why that is printed. */
const beforeTracebacks = (output: string): string => {
  const [before = ''] = output.split(tracebackHead)
  return before.replaceAll(/^Exception ignored .*/gm, '')
}

/** What the JVM prints of an exception: its first line, its stack, and exceptions that caused it. */
const jvmException =
  /^(Exception in thread "(.*?)" .*|(?:[\w$]+\.)+[\w$]*(?:Exception|Error)\b.*)\n((?:(?:[\t ].*|Caused by: .*)(?:\n|$))*)/gm

/** The main thread's exception; otherwise the last one that the program logged, or another thread's. */
const ofJvm = (output: string): string | undefined => {
  const found = [...`${output}\n`.matchAll(jvmException)]
  const last =
    found.findLast(([, , thread]) => thread === 'main') ??
    found.findLast(([, , thread]) => thread === undefined) ??
    found.at(-1)
  return last && joined(last[1]!.trim(), lineWith(last[3]!, /^Caused by: /))
}
