import { createHash } from 'node:crypto'
import { encodeRecord } from './schema.ts'
import type { Trace } from './trace.ts'

/**
 * SHA-256, in hex, of everything that a schedule determines: every field of every step except its duration. Two
 * executions with equal hashes made the same choices, sent the same bytes, wrote the same output and went through the
 * same states.
 */
export const traceHash = ({ steps }: Pick<Trace, 'steps'>): string => {
  const hash = createHash('sha256')
  for (const step of steps) {
    const record = encodeRecord({ step: { ...step, durationUs: 0 } })
    hash.update(`${record.length}:`).update(record)
  }
  return hash.digest('hex')
}
