import { amqp } from './amqp.ts'
import { datagrams } from './datagrams.ts'
import { http1 } from './http1.ts'
import { grpc, http2 } from './http2.ts'
import { kafka } from './kafka.ts'
import { lengthPrefixed } from './length-prefixed.ts'
import { jsonLines, lines } from './lines.ts'
import { mqtt } from './mqtt.ts'
import { msgpack } from './msgpack.ts'
import { postgres } from './postgres.ts'
import { protobuf } from './protobuf.ts'
import { resp } from './resp.ts'
import { tls } from './tls.ts'

export type { DatagramMessages } from './datagrams.ts'
export type { Field, Meanings, MessageFields, PlainField } from './fields.ts'
export type { HttpMessage } from './http1.ts'
export type { GrpcMessages, Http2Message } from './http2.ts'
export type { LengthPrefix, LengthPrefixedMessages } from './length-prefixed.ts'
export type { MsgpackMessages } from './msgpack.ts'
export type { ProtobufMessages } from './protobuf.ts'
export type { RespValue } from './resp-value.ts'
export type { TlsKeys } from './tls.ts'

/** The dissectors that come with the package, by the names under which configurations import them. */
export const frames = {
  lines,
  jsonLines,
  lengthPrefixed,
  http1,
  http2,
  grpc,
  resp,
  postgres,
  mqtt,
  amqp,
  kafka,
  protobuf,
  msgpack,
  datagrams,
  tls,
}
