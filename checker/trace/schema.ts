import { createRequire } from 'node:module'
import type protobuf from 'protobufjs'
import type { RecordedChoice, RecordedStep, RecordedTimers, TraceEnd, TraceHeader } from './trace.ts'

/**
 * The content of a trace's records. Fields are only ever added, so that older traces stay readable. A change that an
 * older reader would misunderstand must raise `formatVersion`.
 */
const schema = `
  syntax = "proto3";
  package lastnail.trace;

  message Record {
    oneof content {
      Header header = 1;
      Step step = 2;
      End end = 3;
      bytes block = 4;
      Step known = 5;
    }
  }

  message Header {
    string system = 1;
    map<string, string> versions = 2;
    Config config = 3;
    uint64 seed = 4;
    string options_json = 5;
    repeated Node nodes = 6;
    repeated Property properties = 7;
    map<string, uint32> faults = 8;
    string clocks_start = 9;
  }
  message Config { string path = 1; string sha256 = 2; }
  message Node {
    string name = 1;
    repeated string command = 2;
    map<string, string> env = 3;
    string image = 4;
    string address = 5;
    string program = 6;
  }
  message Property { string name = 1; string kind = 2; }

  message Step {
    uint32 index = 1;
    Choice choice = 2;
    uint64 duration_us = 3;
    repeated Message messages = 4;
    repeated Timer all_timers = 5;
    repeated State states = 6;
    repeated Output outputs = 7;
    repeated Finding findings = 8;
    repeated PropertyValue properties = 9;
    optional string fingerprint = 10;
    repeated string lost = 11;
    repeated Clock clocks = 12;
    repeated Choice offered = 13;
    repeated uint32 withdrawn = 14;
    repeated Operation operations = 15;
    repeated Call calls = 16;
    optional double at_ms = 17;
    optional string input_json = 18;
    repeated Life lives = 19;
    repeated Timers timers = 20;
    string keeps = 21;
    repeated string started = 22;
  }
  message Choice { string kind = 1; string node = 2; string label = 3; repeated string joins = 4; }
  message Message {
    string from = 1;
    string to = 2;
    uint32 ordinal = 3;
    string label = 4;
    bytes bytes = 5;
    uint64 length = 6;
    string kind = 7;
  }
  message Timer { string node = 1; double deadline_ms = 2; }
  message Timers { string node = 1; repeated double deadlines_ms = 2; }
  message Clock { string node = 1; double elapsed_ms = 2; }
  message Life { string node = 1; bool is_alive = 2; bool keeps_output = 3; }
  message State { string node = 1; optional string json = 2; }
  message Output { string node = 1; string stream = 2; bytes bytes = 3; }
  message Finding { string kind = 1; string node = 2; string message = 3; }
  message Operation {
    string process = 1;
    string op = 2;
    optional string key = 3;
    optional string value_json = 4;
    string outcome = 5;
    optional string result_json = 6;
    uint32 invoked = 7;
    optional uint32 returned = 8;
    optional uint32 invoked_at = 9;
    optional uint32 returned_at = 10;
  }
  message Call {
    string client = 1;
    uint32 ordinal = 2;
    optional string result = 3;
    optional string error = 4;
    bool has_ended = 5;
  }
  message PropertyValue { string name = 1; bool holds = 2; }

  message End { string verdict_json = 1; }
`

/** Each trace begins with this text and its format version. A reader refuses a version above its own. */
export const magic = 'lastnail trace '
export const formatVersion = 5

/** Until this version, each step had the timers of all nodes. */
export const allTimersUntil = 2

export type TraceRecord =
  | { readonly header: TraceHeader }
  | { readonly step: RecordedStep }
  | { readonly end: TraceEnd }

/**
 * A record as it is in the file. A block holds consecutive records compressed. `known` is the full state after the last
 * of a series of steps that are kept in outline.
 */
export type StoredRecord = TraceRecord | { readonly block: Uint8Array } | { readonly known: RecordedStep }

let known: protobuf.Type | undefined

/** Loaded at the first record, because it takes a tenth of a command's start, and workers read and write no trace. */
const recordType = (): protobuf.Type => {
  const load = createRequire(import.meta.url)
  known ??= (load('protobufjs') as typeof protobuf).parse(schema).root.lookupType('lastnail.trace.Record')
  return known
}

/** The bytes of a record. Equal records have equal bytes. */
export const encodeRecord = (record: StoredRecord): Uint8Array => {
  const plain = toPlain(record)
  const Record = recordType()
  const problem = Record.verify(plain)
  if (problem !== null) throw new TypeError(`a trace cannot hold this record: ${problem}`)
  return Record.encode(plain).finish()
}

/** @throws if the bytes are not a record of this format */
export const decodeRecord = (bytes: Uint8Array): StoredRecord => {
  const Record = recordType()
  return fromPlain(Record.toObject(Record.decode(bytes), { longs: Number, defaults: true, oneofs: true }))
}

// Values of any shape are stored as JSON, everything else field by field.

const toPlain = (record: StoredRecord) => {
  if ('block' in record) return record
  if ('header' in record) {
    const { options, ...header } = record.header
    return { header: { ...header, optionsJson: JSON.stringify(options ?? null) } }
  }
  if ('end' in record) return { end: { verdictJson: JSON.stringify(record.end.verdict ?? null) } }
  return 'known' in record ? { known: plainStep(record.known) } : { step: plainStep(record.step) }
}

const plainStep = ({ states, operations, input, atMs, ...step }: RecordedStep) => ({
  ...step,
  ...(atMs !== undefined && { atMs }),
  ...(input !== undefined && { inputJson: JSON.stringify(input) }),
  states: states.map(({ node, state }) => ({ node, json: JSON.stringify(state) })),
  operations: operations.map(({ value, result, ...operation }) => ({
    ...operation,
    valueJson: JSON.stringify(value),
    resultJson: JSON.stringify(result),
  })),
})

// biome-ignore lint/suspicious/noExplicitAny: protobufjs returns plain objects of the schema's shape
const fromPlain = (plain: any): StoredRecord => {
  if (plain.block) return { block: plain.block }
  if (plain.header) {
    const { optionsJson, ...header } = plain.header
    return { header: { ...header, options: JSON.parse(optionsJson) } }
  }
  if (plain.end) return { end: { verdict: JSON.parse(plain.end.verdictJson) } }
  if (plain.known) return { known: stepOf(plain.known) }
  if (!plain.step) throw new Error('neither a header, a step nor an end')
  return { step: stepOf(plain.step) }
}

// biome-ignore lint/suspicious/noExplicitAny: as above
const stepOf = (plain: any): RecordedStep => {
  const {
    allTimers,
    choice,
    states,
    offered,
    operations,
    calls,
    lives,
    fingerprint,
    atMs,
    inputJson,
    keeps,
    started,
    ...step
  } = plain
  return {
    ...step,
    ...(keeps && { keeps }),
    ...(started.length > 0 && { started }),
    ...(allTimers.length > 0 && { timers: byNode(allTimers) }),
    choice: choice ? choiceOf(choice) : undefined,
    states: states.map(({ node, json }: { node: string; json?: string }) => ({
      node,
      state: json && JSON.parse(json),
    })),
    offered: offered.map(choiceOf),
    // biome-ignore lint/suspicious/noExplicitAny: as above
    operations: operations.map(({ valueJson, resultJson, ...operation }: any) => ({
      ...operation,
      value: valueJson && JSON.parse(valueJson),
      result: resultJson && JSON.parse(resultJson),
    })),
    ...(calls.length > 0 && { calls }),
    ...(lives.length > 0 && { lives }),
    fingerprint: fingerprint ?? undefined,
    ...(typeof atMs === 'number' && { atMs }),
    ...(inputJson && { input: JSON.parse(inputJson) }),
  }
}

/** Of an older trace. A node's timers are next to each other. */
const byNode = (all: readonly { readonly node: string; readonly deadlineMs: number }[]): RecordedTimers[] => {
  const nodes = [...new Set(all.map(({ node }) => node))]
  return nodes.map(node => ({
    node,
    deadlinesMs: all.filter(timer => timer.node === node).map(({ deadlineMs }) => deadlineMs),
  }))
}

/** Only an overlap joins other choices. */
const choiceOf = ({ joins, ...choice }: RecordedChoice): RecordedChoice =>
  joins?.length ? { ...choice, joins } : choice
