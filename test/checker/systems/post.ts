import fc from 'fast-check'
import { Model, type ModelOptions, type Transition } from './model.ts'

/** What a node does with a letter, or of itself: its next state, and to whom it writes what. */
interface Reaction {
  readonly next: number
  readonly writes: readonly { readonly to: number; readonly letter: number }[]
}

/** Nodes that write letters to each other; what they do follows from their state and what they get. */
export interface Office {
  /** By node and state: for each letter, and last for what a node does of itself. */
  readonly reactions: readonly (readonly (readonly Reaction[])[])[]
}

export interface Post {
  readonly states: readonly number[]
  /** How often each node may still act of itself. */
  readonly left: readonly number[]
  /** By who writes and to whom: all letters so far, and which have arrived. */
  readonly letters: Readonly<Record<string, readonly { readonly letter: number; readonly arrived: boolean }[]>>
}

const [nodes, states, letters] = [3, 3, 2]

const reaction: fc.Arbitrary<Reaction> = fc.record({
  next: fc.nat(states - 1),
  writes: fc.array(fc.record({ to: fc.nat(nodes - 1), letter: fc.nat(letters - 1) }), { maxLength: 1 }),
})

const times = <T>(count: number, each: fc.Arbitrary<T>): fc.Arbitrary<T[]> =>
  fc.array(each, { minLength: count, maxLength: count })

export const offices: fc.Arbitrary<Office> = fc.record({
  reactions: times(nodes, times(states, times(letters + 1, reaction))),
})

export interface PostOptions extends ModelOptions {
  /** How often each node may act of itself. */
  readonly acts?: number
  /** Whether states have the same fingerprint in which the same letters are on their way, however many have arrived. */
  readonly unnumbered?: boolean
}

/** Which letters are on their way, whatever their numbers. */
export const unnumbered = ({ states, left, letters }: Post): string => {
  const onTheWay = Object.entries(letters).flatMap(([way, all]) =>
    all.flatMap(({ letter, arrived }) => (arrived ? [] : `${way} ${letter}`)),
  )
  return JSON.stringify([states, left, onTheWay.toSorted()])
}

/** Each choice is local: it changes its node and writes to ways that begin there. */
export const post = ({ reactions }: Office, { acts = 1, ...options }: PostOptions = {}): Model<Post> => {
  const react = (post: Post, node: number, input: number): Post => {
    const { next, writes } = reactions[node]![post.states[node]!]![input]!
    const all = { ...post.letters }
    for (const { to, letter } of writes) {
      if (to === node) continue
      const way = `n${node}→n${to}`
      all[way] = [...(all[way] ?? []), { letter, arrived: false }]
    }
    return { ...post, states: post.states.with(node, next), letters: all }
  }
  const transitions = (post: Post): Transition<Post>[] => [
    ...Object.keys(post.letters)
      .toSorted()
      .flatMap(way => {
        const to = Number(way.at(-1))
        return post.letters[way]!.flatMap(({ letter, arrived }, i): Transition<Post>[] => {
          if (arrived) return []
          const taken = { ...post.letters, [way]: post.letters[way]!.with(i, { letter, arrived: true }) }
          const next = () => react({ ...post, letters: taken }, to, letter)
          return [{ kind: 'deliver', node: `n${to}`, label: `${way} #${i} ${letter}`, next }]
        })
      }),
    ...post.left.flatMap((left, node): Transition<Post>[] => {
      const next = () => react({ ...post, left: post.left.with(node, left - 1) }, node, letters)
      return left > 0 ? [{ kind: 'timer', node: `n${node}`, label: `n${node} acts`, next }] : []
    }),
  ]
  const initial: Post = { states: Array(nodes).fill(0), left: Array(nodes).fill(acts), letters: {} }
  const fingerprintOf = options.unnumbered ? unnumbered : undefined
  return new Model<Post>(initial, transitions, { local: true, ...options }, fingerprintOf)
}
