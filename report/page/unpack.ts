import type { Trace } from '../../checker/trace/trace.ts'
import type { PackedTrace, PageData } from '../page-data.ts'

/** The inverse of `pack`. */
export const unpack = async (packed: string): Promise<Unpacked> => {
  const stream = new Blob([bytesOf(packed)]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  const { trace, live, path }: PageData = await new Response(stream).json()
  return { trace: unpackTrace(trace), live: live && unpackTrace(live), path }
}

interface Unpacked extends Pick<PageData, 'path'> {
  readonly trace: Trace
  readonly live: Trace | undefined
}

const unpackTrace = ({ header, steps, end, torn }: PackedTrace): Trace => ({
  ...{ header, end, torn },
  steps: steps.map(step => ({
    ...{ ...step, choice: step.choice ?? undefined, durationUs: 0, fingerprint: undefined },
    messages: step.messages.map(({ base64, ...message }) => ({ ...message, bytes: bytesOf(base64) })),
    outputs: step.outputs.map(({ base64, length, ...output }) => ({
      ...output,
      bytes: withRest(bytesOf(base64), length),
    })),
  })),
})

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), character => character.charCodeAt(0))

const withRest = (bytes: Uint8Array, length: number): Uint8Array =>
  bytes.length === length
    ? bytes
    : new Uint8Array([...bytes, ...new TextEncoder().encode(`\n… ${length - bytes.length} bytes more`)])
