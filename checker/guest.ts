/**
 * Code of a configuration (a predicate, an observer, a client) runs on the thread that executes steps. Before each call it
 * is written down what is called, where another thread can read it: one that computes for ever can be named, and ended.
 */

export const nameBytesMax = 128
const namesMax = 256

/** The number of calls begun and ended, so odd during one; and the number of the name of what was called last. */
export const calls = new Int32Array(new SharedArrayBuffer(8))
/** Names by number, in UTF-8, each with zeros after it. */
export const names = new Uint8Array(new SharedArrayBuffer(namesMax * nameBytesMax))

const numbers = new Map<string, number>()

/** To be called before code of a configuration runs, with `endCall` after it. Calls do not nest. */
export const beginCall = (name: string): void => {
  Atomics.store(calls, 1, numbers.get(name) ?? enter(name))
  Atomics.add(calls, 0, 1)
}

export const endCall = (): void => {
  Atomics.add(calls, 0, 1)
}

const enter = (name: string): number => {
  // There are not so many; if there are, the last share one.
  const number = Math.min(numbers.size, namesMax - 1)
  const bytes = names.subarray(number * nameBytesMax, (number + 1) * nameBytesMax)
  bytes.fill(0)
  new TextEncoder().encodeInto(name, bytes)
  numbers.set(name, number)
  return number
}
