import { hash as hashOf } from 'node:crypto'
import { meaningIn, numbersApart } from '../../../checker/system/labels.ts'
import type { About } from '../../../checker/system/system.ts'
import type { Message } from '../../../proxy/message.ts'

/** Cached, because the parts of a message in flight are needed in each state. */
const known = new WeakMap<Message, AboutMessage>()

type AboutMessage = About & { readonly hash: string }

/** The parts of a choice that delivers, drops or duplicates a message. */
export const aboutMessage = (message: Message): AboutMessage => {
  const before = known.get(message)
  if (before) return before
  const { from, to, ordinal, connection, label, bytes } = message
  const { subject, numbers } = numbersApart(meaningIn(label))
  const hash = hashOf('sha1', bytes, 'base64url')
  const about = { from, to, ordinal, ...(connection > 0 && { connection }), subject, numbers, hash }
  known.set(message, about)
  return about
}

/** Equal for messages that differ only in their ordinals. */
export const messageIdentity = (message: Message): string => {
  const { from, to, kind, connection } = message
  const { subject, numbers, hash } = aboutMessage(message)
  return [from, to, kind, connection, subject, ...numbers, hash].join(' ')
}
