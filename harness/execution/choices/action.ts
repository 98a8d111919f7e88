import { numbersApart } from '../../../checker/system/labels.ts'
import type { Choice, ChoiceKind } from '../../../checker/system/system.ts'
import type { SplitPlace } from '../../../proxy/borders.ts'
import type { Division } from '../../../proxy/framing.ts'
import type { Message } from '../../../proxy/message.ts'
import type { OpenConnection, Way } from '../../../proxy/network.ts'
import type { PowerFailure, StepFault } from '../../hold/held/step-faults.ts'
import type { Node } from '../../node/node.ts'
import type { TimedHappening } from '../../timed/timing.ts'
import type { PowerOutcome } from '../../unsynced/outcomes.ts'

/** An input of a node. It enters before the node runs. */
export type Input = { readonly deliver: Message } | { readonly timer: Node }

/** The effect of a choice on the cluster. */
export type Action =
  | { readonly do: 'inputs'; readonly node: string; readonly inputs: readonly Input[] }
  /** What it sends arrives in two parts at such a place, if there is one. With another one, the calls of both begin at once. */
  | { readonly do: 'client'; readonly client: string; readonly splitsAt?: SplitPlace; readonly other?: string }
  | { readonly do: 'drop' | 'duplicate'; readonly message: Message }
  /** The beginning of a message enters the node; the rest stays in flight. */
  | { readonly do: 'divide'; readonly node: string; readonly message: Message; readonly at: Division }
  | { readonly do: 'disconnect'; readonly connection: OpenConnection }
  | {
      readonly do: 'kill'
      readonly node: string
      readonly peersSee: 'reset' | 'nothing'
      readonly restart: boolean
      /** What is left of its disk, if its power fails. */
      readonly leaves?: PowerOutcome
    }
  /** A fault waits for a node's system calls in a step to come. */
  | ({ readonly do: 'strikeLater'; readonly node: string } & StepFault)
  /** Its power may fail while it starts. */
  | { readonly do: 'restart'; readonly node: string; readonly fails?: PowerFailure }
  | { readonly do: 'cut'; readonly ways: readonly Way[] }
  | { readonly do: 'heal' }
  /** From here on the network is healthy. */
  | { readonly do: 'healthy' }
  /** The machine of a node that is down refuses a connection. */
  | { readonly do: 'refuse'; readonly message: Message }
  /** What a plan or a person may also make happen. */
  | { readonly do: 'happen'; readonly happening: TimedHappening }

export interface Option {
  readonly choice: Choice
  readonly action: Action
  /** This option with the due time that it last had. Kept here: a lookup for each option of each step takes longer. */
  dated?: Option
}

/** The messages that an action takes out of flight. */
export const messagesTaken = (action: Action): readonly Message[] => {
  if (action.do === 'drop' || action.do === 'refuse' || action.do === 'divide') return [action.message]
  return action.do === 'inputs' ? action.inputs.flatMap(input => ('deliver' in input ? input.deliver : [])) : []
}

/** A choice without a message. */
export const option = (kind: ChoiceKind, node: string, label: string, action: Action): Option => ({
  choice: { kind, node, label, ...partsOf(label) },
  action,
})

/** Cached, because the labels of faults appear in every state. */
const partsOf = (label: string): ReturnType<typeof numbersApart> => {
  const before = parts.get(label)
  if (before) return before
  if (parts.size >= partsMax) parts.clear()
  const found = numbersApart(label)
  parts.set(label, found)
  return found
}

const parts = new Map<string, ReturnType<typeof numbersApart>>()
/** Labels whose parts are remembered at most. */
const partsMax = 10_000
