import type { Progress } from '../checker/check.ts'
import type { Verdict } from '../checker/verdict.ts'
import { type Explanation, explainError } from './exit-code.ts'
import { loadConfig } from './load-config.ts'
import type { CheckOptions } from './options.ts'
import { nodesSeed, type Share, search } from './search.ts'
import { inSession } from './session.ts'

/** What a worker is sent first; anything else that it is sent, and the end of its parent, ends its search. */
export interface Order {
  readonly file: string
  readonly options: Omit<CheckOptions, 'signal' | 'onProgress'>
  readonly share: Share
  /** The CPU that it holds its nodes on. */
  readonly cpu: number
}

/** What a worker sends: how far it is, again and again, and last what it came to. */
export type Report = { readonly progress: Progress } | { readonly verdict: Verdict } | { readonly failed: Explanation }

/** The program of a worker: one process of a search that several do together. */
const work = async ({ file, options, share, cpu }: Order): Promise<Report> => {
  const stop = new AbortController()
  process.on('message', () => stop.abort()).on('disconnect', () => stop.abort())
  try {
    const config = await loadConfig(file)
    const onProgress = (progress: Progress) => void send({ progress })
    const verdict = await inSession(config, { seed: nodesSeed(options), signal: stop.signal, cpu }, session =>
      search(session, { ...options, onProgress }, share),
    )
    return { verdict }
  } catch (error) {
    return { failed: explainError(error) }
  }
}

/** Nobody is left to hear it where the parent has ended. */
const send = (report: Report) =>
  new Promise<void>(resolve => (process.connected ? process.send!(report, () => resolve()) : resolve()))

process.once('message', async order => {
  await send(await work(order as Order))
  process.exit()
})
