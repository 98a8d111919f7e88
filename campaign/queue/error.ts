/** Redis cannot serve a campaign. */
export class QueueLacks extends Error {
  override readonly name = 'QueueLacks'
}

/** The address or password of Redis is wrong. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}
