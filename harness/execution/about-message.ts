import { createHash } from 'node:crypto'
import { readLabel } from '../../checker/labels.ts'
import type { About } from '../../checker/system.ts'
import type { Message } from '../../proxy/message.ts'

/** A message in flight is asked for in each state: its parts are found once. */
const known = new WeakMap<Message, About>()

/** What a choice that delivers, drops or duplicates a message is about. */
export const aboutMessage = (message: Message): About => {
  const before = known.get(message)
  if (before) return before
  const { from, to, ordinal, connection, label, bytes } = message
  const { subject, numbers } = readLabel(label)
  const hash = createHash('sha1').update(bytes).digest('base64url')
  const about = { from, to, ordinal, ...(connection > 0 && { connection }), subject, numbers, hash }
  known.set(message, about)
  return about
}

/** Equal for messages that are the same but for their ordinals. */
export const messageIdentity = (message: Message): string => {
  const { from, to, kind, connection } = message
  const { subject, numbers, hash } = aboutMessage(message)
  return [from, to, kind, connection, subject, ...numbers, hash].join(' ')
}
