import type protobufjs from 'protobufjs'
import { readProto } from './proto.ts'

/** What a path of gRPC, `/package.Service/Method`, means; undefined if no service has it. */
export type GrpcMethods = (path: string) => ServiceMethod | undefined

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
export const serviceIn = (proto: string): GrpcMethods => {
  const root = readProto(proto, true)
  return path => {
    const [, name, method] = /^\/([^/]+)\/([^/]+)$/.exec(path) ?? []
    const found = name === undefined ? undefined : lookup(root, name)?.methods[method!]
    if (!found?.resolvedRequestType || !found.resolvedResponseType) return undefined
    return { request: typeOf(found.resolvedRequestType), response: typeOf(found.resolvedResponseType) }
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
