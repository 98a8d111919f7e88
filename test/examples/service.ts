import { execa } from 'execa'
import { onTestFinished } from 'vitest'

/** A loopback address of this test process alone, so that test files and test runs do not meet. */
export const loopback = (host: number): string => `127.${100 + ((process.pid >> 8) & 127)}.${process.pid & 255}.${host}`

/** A process of an example that logs its state as lines of JSON on stdout. */
export interface Service<State> {
  readonly pid: number
  /** Every state that was logged, in order. */
  readonly states: readonly State[]
  /** The first logged state, earlier or later, that `accept` takes. */
  state(accept: (state: State) => boolean): Promise<State>
}

/** Starts `node <args>` and ends it, whatever becomes of the test, when the test is over. */
export const start = <State>(args: readonly string[], env: Record<string, string> = {}): Service<State> => {
  const child = execa(process.execPath, args, { env, reject: false, buffer: false, lines: true })
  const states: State[] = []
  const waiting = new Set<() => void>()
  let ended = false
  const read = (async () => {
    for await (const line of child) {
      states.push(JSON.parse(line))
      for (const look of waiting) look()
    }
    ended = true
    for (const look of waiting) look()
  })()
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await read
  })
  return {
    pid: child.pid!,
    states,
    state: accept =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = states.find(accept)
          if (!found && !ended) return
          waiting.delete(look)
          if (found) resolve(found)
          else reject(new Error(`${args.join(' ')} ended before it logged the state, after ${JSON.stringify(states)}`))
        }
        waiting.add(look)
        look()
      }),
  }
}
