import { createInterface } from 'node:readline'
import { InvalidArgumentError } from 'commander'
import { UsageError } from '../../checker/system/errors.ts'
import { wordsOf } from '../../docker/compose/words.ts'
import type { AskedProgram } from './first-config.ts'

const portMax = 65_535

/** Parses `NAME=COMMAND` or `NAME:PORT,PORT=COMMAND`, as commander calls it. */
export const parseProgram = (text: string): AskedProgram => {
  const [, name, ports = '', command] = /^([^=:]+)(?::([^=]*))?=(.*)$/s.exec(text) ?? []
  if (name === undefined || command === undefined)
    throw new InvalidArgumentError("expected a node such as 'web:8080=node web.js' or 'worker=python3 worker.py'.")
  return { name: name.trim(), ports: portsOf(ports), command: commandOf(command) }
}

/** Parses an option that may be repeated: each use adds a program. */
export const programOptions = (text: string, before: readonly AskedProgram[] = []): AskedProgram[] => [
  ...before,
  parseProgram(text),
]

const commandOf = (text: string): string[] => {
  let words: string[]
  try {
    words = wordsOf(text.trim())
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message} in the command ${text}.`)
  }
  if (words.length === 0) throw new InvalidArgumentError('expected a command.')
  return words
}

const portsOf = (text: string): number[] =>
  text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(word => {
      if (/^\d+$/.test(word) && Number(word) >= 1 && Number(word) <= portMax) return Number(word)
      throw new InvalidArgumentError(`expected ports from 1 to ${portMax}, found "${word}".`)
    })

/**
 * Asks the person at the terminal for the programs of a system, one after another.
 *
 * @throws UsageError if there is no terminal, or no program was named
 */
export const askForPrograms = async (): Promise<readonly AskedProgram[]> => {
  if (!process.stdin.isTTY)
    throw new UsageError(
      "expected a compose file, or a node for each process: lastnail init --node 'web:8080=node web.js' --node 'worker=python3 worker.py'",
    )
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  let isInterrupted = false
  terminal.once('SIGINT', () => {
    isInterrupted = true
    terminal.close()
  })
  // If several lines are pasted at once, the later ones must wait for their questions.
  const lines = terminal[Symbol.asyncIterator]()
  const ask = async (question: string): Promise<string | undefined> => {
    terminal.setPrompt(question)
    terminal.prompt()
    const { done, value } = await lines.next()
    return done ? undefined : String(value).trim()
  }
  /** Asks until an answer can be parsed; undefined at the end of the input. */
  const askFor = async <Answer>(question: string, read: (text: string) => Answer): Promise<Answer | undefined> => {
    for (;;) {
      const text = await ask(question)
      if (text === undefined) return undefined
      try {
        return read(text)
      } catch (error) {
        process.stderr.write(`${(error as Error).message}\n`)
      }
    }
  }
  const programs: AskedProgram[] = []
  try {
    process.stderr.write('One node for each process of the system.\n')
    for (;;) {
      const name = await ask(`name of a node (Enter: ${programs.length === 0 ? 'n1' : 'no more'}): `)
      if (name === undefined || (name === '' && programs.length > 0)) break
      const command = await askFor('its command: ', commandOf)
      const ports = command && (await askFor('TCP ports that it listens on (Enter: none): ', portsOf))
      if (command === undefined || ports === undefined) break
      programs.push({ name: name || 'n1', command, ports })
    }
  } finally {
    terminal.close()
  }
  if (isInterrupted) throw new UsageError('interrupted: nothing is written')
  if (programs.length === 0) throw new UsageError('no node was named: nothing is written')
  return programs
}
