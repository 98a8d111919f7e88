import { deflateRawSync } from 'node:zlib'
import type { Trace } from '../checker/trace/trace.ts'
import type { PackedStep, PackedTrace, PageData } from './page-data.ts'

/**
 * Bytes of payloads and outputs that a page may hold, for both executions together. The largest are cut to fit. If this
 * were larger, the page would open slowly.
 */
const payloadBytesMax = 700_000

/** The page's data, compressed and encoded as text that HTML may contain. */
export const pack = (trace: Trace, live: Trace | undefined, path?: string): string => {
  const limit = limitOf([trace, ...(live ? [live] : [])])
  const data: PageData = { trace: packTrace(trace, limit), live: live && packTrace(live, limit), path }
  return deflateRawSync(JSON.stringify(data)).toString('base64')
}

/** The greatest length for one payload or output at which all of them together fit into `payloadBytesMax`. */
const limitOf = (traces: readonly Trace[]): number => {
  const lengths = traces
    .flatMap(({ steps }) => steps.flatMap(({ messages, outputs }) => [...messages, ...outputs]))
    .map(({ bytes }) => bytes.length)
    .sort((one, other) => one - other)
  let left = payloadBytesMax
  for (const [index, length] of lengths.entries()) {
    const share = left / (lengths.length - index)
    if (length > share) return Math.floor(share)
    left -= length
  }
  return Number.POSITIVE_INFINITY
}

const packTrace = ({ header, steps, end, torn }: Trace, limit: number): PackedTrace => ({
  ...{ header, end, torn },
  steps: steps.map(
    ({ fingerprint: _, durationUs: __, ...step }): PackedStep => ({
      ...step,
      messages: step.messages.map(({ bytes, ...message }) => ({ ...message, base64: base64(bytes, limit) })),
      outputs: step.outputs.map(({ bytes, ...output }) => ({
        ...output,
        length: bytes.length,
        base64: base64(bytes, limit),
      })),
    }),
  ),
})

const base64 = (bytes: Uint8Array, limit: number) => Buffer.from(bytes.subarray(0, limit)).toString('base64')
