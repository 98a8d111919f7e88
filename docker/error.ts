/** Thrown where there is no Docker engine that nodes could be run by; the message says why, and the remedy. */
export class EngineLacks extends Error {
  override readonly name = 'EngineLacks'
}

/** What an engine answered with, where it refused. */
export const statusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode

/** The engine's own words, without what the client adds. */
export const reasonOf = (error: unknown): string => {
  const { json, message } = error as { json?: { message?: string }; message?: string }
  return json?.message ?? message ?? String(error)
}
