/** The circle of keys, 0 to `size - 1`. Nodes on it are `{ key, address }`. */

const fingersCount = 3
export const size = 2 ** fingersCount

/** How far it is clockwise from one key to another. */
export const distance = (from, to) => (to - from + size) % size

/** The keys that the fingers of a node begin at: one half, one quarter ... of the circle away. */
export const fingerStarts = key => Array.from({ length: fingersCount }, (_, i) => (key + 2 ** i) % size)

/** The first of equal keys each. */
export const unique = nodes => nodes.filter((node, i) => nodes.findIndex(({ key }) => key === node.key) === i)
