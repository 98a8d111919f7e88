export type { Progress, SearchKind as Search } from './checker/check.ts'
export { type Model, modelOf } from './checker/history/model.ts'
export * as models from './checker/history/models.ts'
export { linearizable, sequentiallyConsistent } from './checker/history/property.ts'
export type { Property } from './checker/system/property.ts'
export type { CheckOutcome as Outcome } from './cli/check/outcome.ts'
export type { CheckOptions } from './cli/command/options.ts'
export { type Controller, control } from './cli/emulate/client.ts'
export type { Control, RunState } from './cli/emulate/control.ts'
export { check, type SystemOrPath } from './cli/library.ts'
export { fromCompose } from './docker/compose/nodes.ts'
export { DidNotHappen } from './harness/clients/history.ts'
export { type GrpcCall, grpc } from './harness/clients/libraries/grpc.ts'
export { type MqttClient, mqtt } from './harness/clients/libraries/mqtt.ts'
export { type PostgresClient, type PostgresLogin, postgres } from './harness/clients/libraries/postgres.ts'
export { redis } from './harness/clients/libraries/redis.ts'
export { type WebSocketClient, websocket } from './harness/clients/libraries/websocket.ts'
export {
  always,
  ConfigError,
  command,
  defineSystem,
  eventually,
  history,
  jsonFile,
  jsonLines,
  reach,
  sometimes,
} from './harness/config/config.ts'
export * from './harness/config/definition.ts'
export {
  type DatagramMessages,
  type Field,
  frames,
  type GrpcMessages,
  type Http2Message,
  type HttpMessage,
  type LengthPrefix,
  type LengthPrefixedMessages,
  type Meanings,
  type MessageFields,
  type MsgpackMessages,
  type PlainField,
  type ProtobufMessages,
  type RespValue,
} from './proxy/dissect/frames.ts'
export type { Dissector, Frame, StreamReader } from './proxy/dissector.ts'
