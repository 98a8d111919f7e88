import { z } from 'zod'
import { crossBurstMax } from './cross.ts'
import { disciplines, queuePacketsMax } from './topology.ts'

/** How a schema says what is wrong: files, configurations and requests say it differently. */
export interface Wording {
  /** The message of a value, from what was expected. */
  readonly say: (what: string) => { readonly error: string | ((issue: { readonly input?: unknown }) => string) }
  /** An object with these fields alone. */
  readonly fields: <Shape extends z.ZodRawShape>(shape: Shape, what: string) => z.ZodObject<Shape, z.core.$strict>
}

/** Where it stands and what was found is said by those who print the message. */
export const expectedOnly: Wording = {
  say: what => ({ error: `expected ${what}` }),
  fields: (shape, what) => z.strictObject(shape, { error: issue => (issue.keys ? undefined : `expected ${what}`) }),
}

const atLeast = ({ say }: Wording, least: number, what: string) => z.number(say(what)).min(least, say(what))

const wholeNumber = ({ say }: Wording, what: string) => z.int(say(what)).min(1, say(what))

export const millisecondsSchema = (wording: Wording) => atLeast(wording, 0, 'milliseconds of at least 0')

export const probability = (wording: Wording) => {
  const what = 'a probability from 0 to 1'
  return atLeast(wording, 0, what).max(1, wording.say(what))
}

/** Sizes of packets of others, and of their bursts. */
export const crossPackets = (wording: Wording) => {
  const burst = `how many packets come at once, from 1 to ${crossBurstMax}`
  return {
    bytes: wholeNumber(wording, 'a number of bytes, at least 1').exactOptional(),
    burst: wholeNumber(wording, burst).max(crossBurstMax, wording.say(burst)).exactOptional(),
  }
}

/** The fields of a pipe, in files, configurations and requests. */
export const pipeShape = (wording: Wording) => {
  const { say, fields } = wording
  const packets = `a number of packets, from 1 to ${queuePacketsMax}`
  const discipline = z.enum(disciplines, say(`one of ${disciplines.join(', ')}`)).exactOptional()
  const queue = z.union(
    [
      z.strictObject({ packets: wholeNumber(wording, packets).max(queuePacketsMax, say(packets)), discipline }),
      z.strictObject({ bytes: wholeNumber(wording, 'a number of bytes, at least 1'), discipline }),
    ],
    say("a queue: { packets: 100 } or { bytes: 65536 }, and discipline: 'droptail', 'red' or 'codel'"),
  )
  const cross = fields(
    { bandwidth: atLeast(wording, 0, 'bits a second, at least 0'), ...crossPackets(wording) },
    'cross traffic: { bandwidth: 1e6, bytes: 1000, burst: 1 }',
  )
  return {
    delayMs: millisecondsSchema(wording),
    jitterMs: millisecondsSchema(wording).exactOptional(),
    bandwidth: atLeast(wording, 1, 'bits a second, at least 1').exactOptional(),
    loss: probability(wording).exactOptional(),
    queue: queue.exactOptional(),
    cross: cross.exactOptional(),
  }
}
