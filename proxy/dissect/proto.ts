import { createRequire } from 'node:module'
import type protobufjs from 'protobufjs'

/**
 * What a `.proto` file declares, or its text.
 *
 * @param isWhole whether each type that it names must be declared
 * @throws if it cannot be read
 */
export const readProto = (proto: string, isWhole = false): protobufjs.Root => {
  // A text that declares a message or a service has braces, and no sensible path does.
  const isText = proto.includes('{')
  // Loaded where it is needed, because it takes a tenth of a command's start.
  const { parse, loadSync }: typeof protobufjs = createRequire(import.meta.url)('protobufjs')
  try {
    const root = isText ? parse(proto).root : loadSync(proto)
    return isWhole ? (root.resolveAll() as protobufjs.Root) : root
  } catch (cause) {
    throw new Error(`cannot read ${protoNameOf(proto)}: ${(cause as Error).message}`, { cause })
  }
}

/** How a message names it. */
export const protoNameOf = (proto: string): string => (proto.includes('{') ? 'the given .proto text' : proto)
