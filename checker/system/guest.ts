/**
 * Code of a configuration (a predicate, an observer, a client) runs on the thread that executes steps. Before each
 * call, the name of what is called is written to shared memory. So another thread can name a call that computes for
 * ever, and end it.
 */

export const nameBytesMax = 128
const namesMax = 256

/** The number of calls begun and ended, which is odd during a call; and the number of the latest name. */
export const calls = new Int32Array(new SharedArrayBuffer(8))
/** Names by number, in UTF-8, padded with zeros. */
export const names = new Uint8Array(new SharedArrayBuffer(namesMax * nameBytesMax))

const numbers = new Map<string, number>()

/** Must be called before code of a configuration runs, and `endCall` after it. Calls must not nest. */
export const beginCall = (name: string): void => {
  Atomics.store(calls, 1, numbers.get(name) ?? enter(name))
  Atomics.add(calls, 0, 1)
}

export const endCall = (): void => {
  Atomics.add(calls, 0, 1)
}

const enter = (name: string): number => {
  // More names than there is room for are unlikely; if it happens, the last ones share a number.
  const number = Math.min(numbers.size, namesMax - 1)
  const bytes = names.subarray(number * nameBytesMax, (number + 1) * nameBytesMax)
  bytes.fill(0)
  new TextEncoder().encodeInto(name, bytes)
  numbers.set(name, number)
  return number
}
