import { nearest } from '../../checker/system/nearest.ts'
import type { ResolvedNode } from './resolved.ts'

/** What stands for a node's name or address, in its group. */
export const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g

/** A node whose placeholders are replaced by the nodes' addresses and names. */
export const withAddresses = (node: ResolvedNode, addresses: Readonly<Record<string, string>>): ResolvedNode => {
  const replace = (text: string) =>
    text.replace(placeholder, (_, inner: string) => {
      const [name, field] = inner.split('.')
      return field === 'name' ? name! : addresses[name!]!
    })
  return {
    ...node,
    command: node.command.map(replace),
    env: Object.fromEntries(Object.entries(node.env).map(([key, value]) => [key, replace(value)])),
  }
}

/** The problem with a text's placeholders; `undefined` if there is none. */
export const placeholderProblem = (text: string, names: readonly string[]): string | undefined => {
  for (const [whole, inner] of text.matchAll(placeholder)) {
    const [name, field, ...more] = inner!.split('.')
    if (!names.includes(name!)) return `${whole} names no node; ${nearest(name!, names)}`
    if ((field !== 'address' && field !== 'name') || more.length > 0) {
      return `expected {{${name}.address}} or {{${name}.name}}, found ${whole}`
    }
  }
  return undefined
}
