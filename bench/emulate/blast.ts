/** Programs of which one floods the other, which counts what comes: `bench/service/blast.cjs`. */

/** What came, with IP headers, and the time from the first to the last of it. */
export interface Received {
  readonly received: number
  readonly bytes: number
  readonly milliseconds: number
}

/** What the counting program said last. */
export const receivedIn = (output: string): Received => JSON.parse(output.trimEnd().split('\n').at(-1)!)
