import { createInterface, type Interface } from 'node:readline'
import { counted } from '../../checker/system/brief.ts'
import { noFilter } from '../../report/model/filter.ts'
import { verdictOf } from '../../report/model/story.ts'
import { explainError } from '../command/exit-code.ts'
import { print } from '../command/print.ts'
import { stepWhere } from './breakpoint.ts'
import { commandNamed, completionsOf, type Debugger, describePlace } from './commands.ts'
import { type Timeline, withTimeline } from './timeline.ts'

/**
 * Reads commands from a terminal or pipe and moves through a trace's execution with new processes.
 *
 * @param until an expression over the state, `s`: begins at the first step at which it is true
 *
 * @throws TraceError if the trace cannot be read
 *
 * @throws UsageError if the expression is invalid or never true
 *
 * @throws Differs if the system's start differs from the recorded one
 */
export const debugTrace = async (path: string, until?: string): Promise<void> => {
  await withTimeline(path, async (timeline, trace, signal) => {
    const terminal = new Terminal(words => completionsOf(debug, words))
    const debug: Debugger = {
      timeline,
      filter: noFilter,
      critical: verdictOf(trace)?.criticalTransition?.step,
      untilAsked: prompt => terminal.ask(prompt),
    }
    signal.addEventListener('abort', () => terminal.close())
    if (until !== undefined) await timeline.goTo(await stepWhere(timeline.execution, 0, until))
    print([
      `${trace.header.system}: ${counted(timeline.execution.end, 'step')}; "help" lists the commands`,
      ...describePlace(debug),
    ])
    try {
      for await (const line of terminal.lines(() => placeOf(timeline))) if (!(await perform(debug, line))) break
    } finally {
      terminal.close()
    }
  })
}

const placeOf = ({ at, execution, isBranch }: Timeline) => `${at}/${execution.end}${isBranch ? ' (branch)' : ''}> `

/** Performs a command; returns false if it was the last one. Errors are printed and change nothing. */
const perform = async (debug: Debugger, line: string): Promise<boolean> => {
  const [name, ...words] = line.trim().split(/\s+/)
  if (!name) return true
  try {
    const command = commandNamed(name)
    const lines = await command.run(debug, words)
    if (lines.length > 0) print(lines)
    return command.names[0] !== 'quit'
  } catch (error) {
    for (const text of explainError(error).lines) process.stderr.write(`lastnail: ${text}\n`)
    return true
  }
}

/** Lines of input. A terminal also has a prompt, a history and completion. */
class Terminal {
  readonly #interface: Interface
  readonly #lines: AsyncIterator<string>
  readonly #isTerminal = process.stdin.isTTY === true

  constructor(completions: (words: readonly string[]) => readonly string[]) {
    this.#interface = createInterface({
      input: process.stdin,
      ...(this.#isTerminal && { output: process.stdout, completer: completerOf(completions) }),
    })
    this.#interface.on('SIGINT', () => this.close())
    this.#lines = this.#interface[Symbol.asyncIterator]()
  }

  async *lines(promptOf: () => string): AsyncGenerator<string> {
    for (;;) {
      this.#prompt(promptOf())
      const { done, value } = await this.#lines.next()
      if (done) return
      // While a command runs, Ctrl-C must be a signal: no input is read during a long step.
      if (this.#isTerminal) process.stdin.setRawMode(false)
      yield value
    }
  }

  /** Resolves at the next line. */
  async ask(prompt: string): Promise<void> {
    process.stdout.write(this.#isTerminal ? '' : `${prompt}\n`)
    this.#prompt(prompt)
    await this.#lines.next()
  }

  close(): void {
    this.#interface.close()
  }

  #prompt(text: string): void {
    if (!this.#isTerminal) return
    process.stdin.setRawMode(true)
    this.#interface.setPrompt(text)
    this.#interface.prompt()
  }
}

/** Completes the last word, or for `take` the whole label. */
const completerOf = (completions: (words: readonly string[]) => readonly string[]) => (line: string) => {
  const words = line.split(/\s+/)
  const given = words[0] === 'take' && words.length > 1 ? words.slice(1).join(' ') : words.at(-1)!
  return [completions(words).filter(each => each.startsWith(given)), given]
}
