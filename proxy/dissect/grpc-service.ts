import protobufjs from 'protobufjs'

/** What a path of gRPC, `/package.Service/Method`, means; undefined if no service has it. */
export type Service = (path: string) => ServiceMethod | undefined

export interface ServiceMethod {
  readonly request: MessageType
  readonly response: MessageType
}

interface MessageType {
  readonly name: string
  /** Undefined if the bytes are no such message. */
  readonly decode: (bytes: Buffer) => Readonly<Record<string, unknown>> | undefined
  /** @throws if a field has a value of another type */
  readonly encode: (message: object) => Buffer
}

/** The services of a `.proto` file, or of its text. @throws if it cannot be read */
export const serviceIn = (proto: string): Service => {
  // A text with a service has braces, and no sensible path does.
  const isText = proto.includes('{')
  const root = read(proto, isText)
  return path => {
    const [, name, method] = /^\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    const found = name === undefined ? undefined : lookup(root, name)?.methods[method!]
    if (!found?.resolvedRequestType || !found.resolvedResponseType) return undefined
    return { request: typeOf(found.resolvedRequestType), response: typeOf(found.resolvedResponseType) }
  }
}

const read = (proto: string, isText: boolean): protobufjs.Root => {
  try {
    const root = isText ? protobufjs.parse(proto).root : protobufjs.loadSync(proto)
    return root.resolveAll() as protobufjs.Root
  } catch (cause) {
    throw new Error(`cannot read ${isText ? 'the given .proto text' : proto}: ${(cause as Error).message}`, { cause })
  }
}

const lookup = (root: protobufjs.Root, name: string): protobufjs.Service | undefined => {
  try {
    return root.lookupService(name)
  } catch {
    return undefined
  }
}

const typeOf = (type: protobufjs.Type): MessageType => ({
  name: type.name,
  encode: message => Buffer.from(type.encode(type.fromObject(message)).finish()),
  decode: bytes => {
    try {
      return type.toObject(type.decode(bytes), { longs: String, enums: String, bytes: String })
    } catch {
      return undefined
    }
  },
})
