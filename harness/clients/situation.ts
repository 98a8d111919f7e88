import { hash } from 'node:crypto'
import type { GlobalState, NodeView } from '../config/config.ts'

/**
 * Equal for states in which the nodes look the same apart from numbers: by this, a search learns where calls succeed. A node
 * without an observer looks as the last line that it printed.
 */
export const situationOf = ({ nodes }: Pick<GlobalState, 'nodes'>): string =>
  hash('sha1', nodes.map(outlineOf).join('\n'), 'base64url')

/** Cached, because in most steps one node of many changes. */
const outlines = new WeakMap<object, string>()

const outlineOf = ({ alive, state, output }: NodeView): string => {
  if (!alive) return 'down'
  if (state === undefined) return withoutNumbers(lastLine(output.stdout))
  if (typeof state !== 'object' || state === null) return withoutNumbers(String(state))
  const known = outlines.get(state) ?? withoutNumbers(JSON.stringify(state) ?? '')
  outlines.set(state, known)
  return known
}

const lastLine = (text: string): string => text.trimEnd().slice(-200).split('\n').at(-1)!

/** Lists of numbers have one outline, whatever their lengths. */
const withoutNumbers = (text: string): string => text.replace(/(?<!\w)-?\d+(\.\d+)?/g, '#').replace(/#(,#)+/g, '#')
