import type { Dissector, StreamReader } from '../dissector.ts'
import { lengthLabel, shortLabel } from '../short-label.ts'
import { type Cut, FrameReader } from './reader.ts'

/**
 * Kafka's protocol: requests by their name, version and client, and their answers. What is in them depends on the version,
 * and is not read. https://kafka.apache.org/protocol
 */
export const kafka = (): Dissector => ({
  name: 'Kafka',
  stream: (direction, other) =>
    direction === 'forward'
      ? new RequestReader()
      : new AnswerReader(other instanceof RequestReader ? other : new RequestReader()),
  datagram: lengthLabel,
})

const messageBytesMax = 2 ** 28

// biome-ignore format: a list by number
const requests: Readonly<Record<number, string>> = {
  0: 'Produce', 1: 'Fetch', 2: 'ListOffsets', 3: 'Metadata', 4: 'LeaderAndIsr', 5: 'StopReplica', 6: 'UpdateMetadata',
  7: 'ControlledShutdown', 8: 'OffsetCommit', 9: 'OffsetFetch', 10: 'FindCoordinator', 11: 'JoinGroup', 12: 'Heartbeat',
  13: 'LeaveGroup', 14: 'SyncGroup', 15: 'DescribeGroups', 16: 'ListGroups', 17: 'SaslHandshake', 18: 'ApiVersions',
  19: 'CreateTopics', 20: 'DeleteTopics', 21: 'DeleteRecords', 22: 'InitProducerId', 23: 'OffsetForLeaderEpoch',
  24: 'AddPartitionsToTxn', 25: 'AddOffsetsToTxn', 26: 'EndTxn', 27: 'WriteTxnMarkers', 28: 'TxnOffsetCommit',
  29: 'DescribeAcls', 30: 'CreateAcls', 31: 'DeleteAcls', 32: 'DescribeConfigs', 33: 'AlterConfigs',
  34: 'AlterReplicaLogDirs', 35: 'DescribeLogDirs', 36: 'SaslAuthenticate', 37: 'CreatePartitions', 42: 'DeleteGroups',
  43: 'ElectLeaders', 44: 'IncrementalAlterConfigs', 45: 'AlterPartitionReassignments', 46: 'ListPartitionReassignments',
  47: 'OffsetDelete', 52: 'Vote', 53: 'BeginQuorumEpoch', 54: 'EndQuorumEpoch', 55: 'DescribeQuorum',
  56: 'AlterPartition', 57: 'UpdateFeatures', 58: 'Envelope', 59: 'FetchSnapshot', 60: 'DescribeCluster',
  61: 'DescribeProducers', 62: 'BrokerRegistration', 63: 'BrokerHeartbeat', 64: 'UnregisterBroker',
  65: 'DescribeTransactions', 66: 'ListTransactions', 67: 'AllocateProducerIds', 68: 'ConsumerGroupHeartbeat',
}

/** A message after its length. */
const cutMessage = (held: Buffer, atLeast: number, labelOf: (message: Buffer) => string | undefined): Cut => {
  if (held.length < 4) return { atLeast: 4 }
  const end = 4 + held.readUInt32BE()
  if (end < 4 + atLeast || end > messageBytesMax) return 'malformed'
  if (held.length < end) return { atLeast: end }
  const label = labelOf(held.subarray(4, end))
  return label === undefined ? 'malformed' : { length: end, label: shortLabel(label) }
}

class RequestReader extends FrameReader {
  /** Names of requests without an answer, by the number that the answer has. */
  readonly #open = new Map<number, string>()

  protected override alike(): RequestReader {
    const alike = new RequestReader()
    for (const [number, name] of this.#open) alike.#open.set(number, name)
    return alike
  }

  /** Takes the request to which this answer belongs. */
  take(number: number): string | undefined {
    const name = this.#open.get(number)
    this.#open.delete(number)
    return name
  }

  protected override cut(held: Buffer): Cut {
    return cutMessage(held, 8, message => {
      const name = requests[message.readUInt16BE()]
      if (name === undefined) return undefined
      const number = message.readInt32BE(4)
      this.#open.set(number, name)
      const client = message.length < 10 ? -1 : message.readInt16BE(8)
      const of = client > 0 ? ` of ${message.toString('utf8', 10, 10 + client)}` : ''
      return `${name} v${message.readUInt16BE(2)} #${number}${of}`
    })
  }
}

class AnswerReader extends FrameReader {
  readonly #requests: RequestReader

  constructor(requests: RequestReader) {
    super()
    this.#requests = requests
  }

  protected override alike(other: StreamReader | undefined): AnswerReader {
    return new AnswerReader(other instanceof RequestReader ? other : this.#requests)
  }

  protected override cut(held: Buffer): Cut {
    return cutMessage(held, 4, message => {
      const number = message.readInt32BE()
      return `${this.#requests.take(number) ?? 'answer'} #${number} answered, ${lengthLabel(message.subarray(4))}`
    })
  }
}
