import type { Observer } from './definition.ts'
import { endOfOutput } from './printed.ts'

/** The state is the last JSON object on a line of its own that the node printed since its start. */
// biome-ignore lint/suspicious/noExplicitAny: only the service knows its state's shape
export const jsonLines = <State = any>(stream: 'stdout' | 'stderr' = 'stdout'): Observer<State> => {
  return node => {
    const output = node.output()
    return lastJsonObject(endOfOutput(output, stream)) ?? lastJsonObject(output[stream])
  }
}

/**
 * The state is the content of a JSON file that the node writes. There is none while the file is absent or incomplete.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the service knows its state's shape
export const jsonFile = <State = any>(path: string): Observer<State> => {
  return async node => {
    const content = await node.file(path).catch(absent)
    return content && tryParse(content.toString())
  }
}

/**
 * The state is the JSON printed by a program that is run inside the node. If the program fails, so does the observer.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the service knows its state's shape
export const command = <State = any>(programAndArguments: readonly string[]): Observer<State> => {
  return async node => {
    const { exitCode, stdout, stderr } = await node.exec(programAndArguments)
    const program = programAndArguments.join(' ')
    if (exitCode !== 0) throw new Error(`"${program}" ended with code ${exitCode} in ${node.name}: ${stderr.trim()}`)
    const state = tryParse(stdout)
    if (state === undefined) {
      throw new Error(
        `expected "${program}" to print JSON in ${node.name}, found ${JSON.stringify(stdout.slice(0, 80))}`,
      )
    }
    return state as State
  }
}

/** Searches from the end. A last line without a newline may be incomplete and is ignored. */
const lastJsonObject = (text: string) => {
  for (let end = text.lastIndexOf('\n'); end >= 0; ) {
    const before = end === 0 ? -1 : text.lastIndexOf('\n', end - 1)
    const line = text.slice(before + 1, end).trim()
    const value = line.startsWith('{') ? tryParse(line) : undefined
    if (value !== undefined) return value
    end = before
  }
  return undefined
}

const tryParse = (text: string) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const absent = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined
  throw error
}
