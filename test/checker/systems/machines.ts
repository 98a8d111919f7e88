import fc from 'fast-check'
import type { Handlers } from './handlers.ts'

export interface Machines {
  /** What each sends when it goes up by itself, by its state; null where it does not. */
  readonly own: readonly (number | null)[]
  /** What each does with a message: by node, state and message. */
  readonly steps: readonly { readonly up: number; readonly sends: number | null }[]
}

/** Two machines of three states that only go up, and send one of three messages, or none, as they go. */
export const machines: fc.Arbitrary<Handlers<number>> = fc
  .record({
    own: fc.array(fc.option(fc.nat({ max: 2 })), { minLength: 6, maxLength: 6 }),
    steps: fc.array(fc.record({ up: fc.nat({ max: 2 }), sends: fc.option(fc.nat({ max: 2 })) }), {
      minLength: 18,
      maxLength: 18,
    }),
  })
  .map(machineOf)

/** The same, as handlers. */
export function machineOf({ own, steps }: Machines): Handlers<number> & { [fc.toStringMethod](): string } {
  const spec = JSON.stringify({ own, steps })
  const names = ['n1', 'n2']
  const other = (name: string) => (name === 'n1' ? 'n2' : 'n1')
  // A local search gives nothing twice to a state: each state sends messages of its own.
  const to = (name: string, state: number, sends: number | null) =>
    sends === null ? [] : [{ to: other(name), text: `m${sends} of ${state}` }]
  return {
    [fc.toStringMethod]: () => spec,
    names,
    initial: () => ({ state: 0 }),
    own: (state, name) => {
      const sends = own[names.indexOf(name) * 3 + state]
      if (state === 2 || sends === null || sends === undefined) return []
      return [{ label: `${name} goes ${state}`, next: () => ({ state: state + 1, sent: to(name, state, sends) }) }]
    },
    receive: (state, { text }, name) => {
      const { up, sends } = steps[(names.indexOf(name) * 3 + state) * 3 + Number(text[1])]!
      const next = Math.min(2, state + up)
      // What changes nothing sends nothing: else messages without an end go to and fro.
      return { state: next, sent: next === state ? [] : to(name, state, sends) }
    },
  }
}
