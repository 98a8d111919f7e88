import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { commitOf } from '../../campaign/git.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { campaignPage } from '../../report/campaign.ts'
import { type Campaign, outcomeOfCampaign } from './campaign.ts'

/**
 * Minimum time between two writes of the page, in milliseconds. If it were shorter, large campaigns would be slowed
 * down.
 */
const everyMs = 2_000
const samplesMax = 500

/** The page of a campaign, rewritten again and again while the campaign runs. */
export class CampaignPage {
  readonly #path: string
  readonly #files: readonly string[]
  readonly #commits: Promise<readonly string[]>
  #growth: { readonly seconds: number; readonly states: number }[] = []
  #written = Number.NEGATIVE_INFINITY
  #writing = Promise.resolve()

  /** @throws UsageError if the page cannot be written */
  constructor(path: string, files: readonly string[]) {
    this.#path = resolve(path)
    this.#files = files
    this.#commits = Promise.all(
      files.map(async file => `${file}: ${(await commitOf(dirname(resolve(file)))) ?? 'in no git repository'}`),
    )
    try {
      // The page of an earlier campaign stays until this one has something to show.
      writeFileSync(this.#path, '', { flag: 'a' })
    } catch (cause) {
      throw new UsageError(`cannot write the page ${path}: ${(cause as Error).message}`, { cause })
    }
  }

  update(campaign: Campaign, workers: () => Promise<readonly string[]>): void {
    this.#growth.push({ seconds: campaign.seconds, states: campaign.states })
    if (this.#growth.length > samplesMax) this.#growth = this.#growth.filter((_, index) => index % 2 === 1)
    if (performance.now() - this.#written < everyMs) return
    this.#written = performance.now()
    this.#writing = this.#writing.then(() => this.#write(campaign, workers)).catch(() => undefined)
  }

  async end(campaign: Campaign, workers: () => Promise<readonly string[]>): Promise<void> {
    await this.#writing
    await this.#write(campaign, workers, true)
  }

  async #write(campaign: Campaign, workers: () => Promise<readonly string[]>, isOver = false): Promise<void> {
    const { rounds, bugs, metLines, notes, seconds } = campaign
    const page = campaignPage({
      ...{ rounds, met: metLines, notes, seconds, isOver },
      title: `Campaign: ${this.#files.join(', ')}`,
      at: new Date().toISOString(),
      commits: await this.#commits,
      verdict: outcomeOfCampaign(campaign).verdict,
      bugs: bugs.map(bug => ({ ...bug, report: bug.report && relative(dirname(this.#path), bug.report) })),
      growth: this.#growth,
      workers: await workers(),
    })
    const draft = `${this.#path}.${process.pid}`
    try {
      writeFileSync(draft, page)
      renameSync(draft, this.#path)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }
}
