import type { Choice } from '../../../checker/system/system.ts'
import type { Message } from '../../../proxy/message.ts'
import { aboutMessage } from './about-message.ts'
import type { Action, Input, Option } from './action.ts'

export type InputOption = Option & { readonly action: Extract<Action, { do: 'inputs' }> }

// Most enabled deliveries were enabled before the last step, so their choices are reused.

const deliveries = new WeakMap<Message, InputOption>()

export const delivery = (message: Message, isLocal: boolean): InputOption => {
  const before = deliveries.get(message)
  if (before?.choice.isLocal === isLocal) return before
  const choice: Choice = {
    kind: 'deliver',
    node: message.to,
    label: message.label,
    ...aboutMessage(message),
    isLocal,
  }
  const made = inputOption(choice, { deliver: message })
  deliveries.set(message, made)
  return made
}

export const inputOption = (choice: Choice, input: Input): InputOption => ({
  choice,
  action: { do: 'inputs', node: choice.node, inputs: [input] },
})
