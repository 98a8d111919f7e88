/** There is no Docker engine to run nodes. The message says why, and the remedy. */
export class EngineLacks extends Error {
  override readonly name = 'EngineLacks'
}

/** The HTTP status of an engine's refusal. */
export const httpStatusOf = (error: unknown): number | undefined => (error as { statusCode?: number }).statusCode

/** The engine's own message, without the client's additions. */
export const engineReasonOf = (error: unknown): string => {
  const { json, message } = error as { json?: { message?: string }; message?: string }
  return json?.message ?? message ?? String(error)
}
