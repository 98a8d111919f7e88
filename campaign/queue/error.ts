/** Redis that cannot serve a campaign. */
export class QueueLacks extends Error {
  override readonly name = 'QueueLacks'
}

/** An address, or a password, that is wrong. */
export class QueueRefused extends Error {
  override readonly name = 'QueueRefused'
}
