import type { NodeOutput } from './definition.ts'

/** By output, the end of each of its streams. */
const ends = new WeakMap<NodeOutput, NodeOutput>()

/** Notes the end of each stream of an output, from the beginning of a line. */
export const withEnd = (output: NodeOutput, end: NodeOutput): NodeOutput => {
  ends.set(output, end)
  return output
}

/**
 * The end of a stream, from the beginning of a line; empty if it is not known. Looking into the whole would copy it: V8
 * keeps a text that grows in parts until somebody looks into it.
 */
export const endOfOutput = (output: NodeOutput, stream: keyof NodeOutput): string => ends.get(output)?.[stream] ?? ''
