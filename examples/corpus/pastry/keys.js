/** The circle of keys, 0 to `space - 1`, of `digits` digits to the base `base`. Nodes on it are `{ key, address }`. */
import { bug } from '../common/bug.js'

const base = 8
export const digits = 2
const space = base ** digits

const digit = (key, i) => Math.floor(key / base ** (digits - 1 - i)) % base

/** The cell of the routing table for a node: the number of first digits that it shares, and its next one. */
export const cell = (own, key) => {
  let row = 0
  while (row < digits - 1 && digit(own, row) === digit(key, row)) row++
  return { row, column: digit(key, row) }
}

/** How far it is clockwise, as it compares with other such distances. */
export const clockwise = (from, to) => {
  const distance = (to - from + space) % space
  return bug('pastry-leafset') && distance > space / 2 ? distance - space : distance
}

/** How far it is the shorter way. */
export const apart = (a, b) => Math.min((a - b + space) % space, (b - a + space) % space)
