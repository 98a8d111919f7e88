import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { QueueEngine } from '../../campaign/queue/engine.ts'
import type { Job, JobAnswer } from '../../campaign/queue/job.ts'
import { runCampaign } from '../../cli/campaign/campaign.ts'
import { loadConfig } from '../../cli/config/load-config.ts'
import { copyOfFixtures } from '../cli/lastnail.ts'

/** Never ends with one system, and says that another does not start. */
class HalfEngine implements QueueEngine {
  readonly width = 1

  async perform({ config, tasks }: Job): Promise<readonly JobAnswer[]> {
    if (config.endsWith('adders.config.ts')) return new Promise(() => undefined)
    const failure = { failed: { code: 64, error: 'serviceDoesNotStart', lines: ['the service does not start'] } }
    return tasks.map(() => ({ failure }))
  }

  async workers() {
    return []
  }

  async close() {}
}

test('a round that fails ends the campaign, also while rounds of other systems are under way', {
  timeout: 20_000,
}, async () => {
  const { directory, remove } = copyOfFixtures()
  try {
    const configs = await Promise.all(
      ['adders.config.ts', 'counter.config.ts'].map(name => loadConfig(join(directory, name))),
    )
    const { signal } = new AbortController()
    const campaign = runCampaign(configs, { engine: new HalfEngine(), seed: 1, out: directory, signal })
    await expect(campaign).rejects.toThrow('the service does not start')
  } finally {
    remove()
  }
})
