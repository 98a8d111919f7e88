import { type AnyLinkChange, shownLink } from '../../checker/happening/ways.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import type { PipeChange, Route } from '../../proxy/forwarding/plan.ts'
import { type Direction, inSeries } from '../../topologies/routes.ts'
import type { LinkTotal } from './loads.ts'

/** The directions of links on any route, and the pipes that they form. Plain data. */
export interface LinkPlan {
  readonly directions: readonly Direction[]
  /** By pipe, the indices of its directions. */
  readonly ofPipe: readonly (readonly number[])[]
}

/** A change of a link, with the settings of pipes. */
export type LinkChange = AnyLinkChange<NonNullable<PipeSettings['queue']>, NonNullable<PipeSettings['cross']>>

/** What a change means for pipes and routes. */
export interface Rewired {
  readonly pipes: readonly PipeChange[]
  /** Routes over the link, and whether some link on each is down. */
  readonly ways: readonly { readonly from: number; readonly to: number; readonly isBroken: boolean }[]
}

/** The links of a topology while a system runs. Routes stay those of least delay at the start. */
export class Links {
  #plan: LinkPlan
  readonly #routes: readonly Route[]
  readonly #now: PipeSettings[]
  readonly #down = new Set<number>()
  /** By the directions of a link: how it differs from the start. */
  readonly #changes = new Map<string, LinkChange>()
  /** Pipes that are one direction of a link, each with that direction, which is in no other pipe. */
  readonly #ownPipes: readonly (readonly [pipe: number, direction: number])[]

  constructor(plan: LinkPlan, routes: readonly Route[]) {
    this.#plan = plan
    this.#routes = routes
    this.#now = plan.directions.map(({ pipe }) => pipe)
    const uses = new Map<number, number>()
    for (const index of plan.ofPipe.flat()) uses.set(index, (uses.get(index) ?? 0) + 1)
    this.#ownPipes = plan.ofPipe.flatMap(([index, ...others], pipe) =>
      others.length === 0 && uses.get(index!) === 1 ? [[pipe, index!] as const] : [],
    )
  }

  copy(): Links {
    const made = new Links(this.#plan, this.#routes)
    made.#now.splice(0, made.#now.length, ...this.#now)
    for (const index of this.#down) made.#down.add(index)
    for (const [directions, change] of this.#changes) made.#changes.set(directions, change)
    return made
  }

  /** A node has another name from now on. */
  rename(from: string, to: string): void {
    const renamed = (name: string) => (name === from ? to : name)
    const directions = this.#plan.directions.map(each => ({
      ...each,
      ...{ from: renamed(each.from), to: renamed(each.to) },
    }))
    this.#plan = { ...this.#plan, directions }
  }

  /** How links differ from what they were at the start. */
  get changes(): readonly LinkChange[] {
    return [...this.#changes.values()]
  }

  /**
   * What each direction of a link has carried. With the way between two hosts as one pipe, that is known of the hosts' own
   * links alone.
   *
   * @param ofPipes by pipe, in bytes
   */
  carried(ofPipes: ArrayLike<number>): LinkTotal[] {
    return this.#ownPipes.map(([pipe, index]) => {
      const { from, to } = this.#plan.directions[index]!
      return { from, to, bandwidth: this.#now[index]!.bandwidth, bytes: ofPipes[pipe]! }
    })
  }

  /**
   * @throws UsageError for a link that is not there, or that no packet passes; for a bandwidth or cross traffic of one
   * without limit
   */
  require({ link, bandwidth, cross }: LinkChange): readonly number[] {
    const found = this.#numbersOf(link)
    const shown = shownLink(link)
    if (found.length === 0)
      throw new UsageError(
        typeof link === 'string'
          ? `no node ${shown} has a link of its own: expected a node of the system, or the two ends of a link`
          : `no packet passes a link ${shown}: expected one on the way between two nodes`,
      )
    // Pipes were merged by which of them are limited, so a limit cannot be added later.
    const isUnlimited = found.some(index => this.#plan.directions[index]!.pipe.bandwidth === undefined)
    if (isUnlimited && bandwidth !== undefined)
      throw new UsageError(`link ${shown} has bandwidth without limit, and keeps it while the system runs`)
    if (isUnlimited && cross !== undefined)
      throw new UsageError(`link ${shown} has bandwidth without limit, of which cross traffic takes nothing away`)
    return found
  }

  /** @throws UsageError as `require` */
  change(change: LinkChange): Rewired {
    const found = this.require(change)
    const { link: _, asBefore = false, isDown, ...settings } = change
    for (const index of found) {
      const before = asBefore ? this.#plan.directions[index]!.pipe : this.#now[index]!
      this.#now[index] = { ...before, ...settings }
      if (isDown === true) this.#down.add(index)
      else if (isDown === false || asBefore) this.#down.delete(index)
    }
    this.#note(found.join(), change)
    const changed = new Set(found)
    const isMadeOf = (pipe: number) => this.#plan.ofPipe[pipe]!.some(index => changed.has(index))
    return {
      pipes: this.#plan.ofPipe.flatMap((_, pipe) => (isMadeOf(pipe) ? { pipe, settings: this.#settingsOf(pipe) } : [])),
      ways: this.#routes
        .filter(({ pipes }) => pipes.some(isMadeOf))
        .map(({ from, to, pipes }) => ({ from, to, isBroken: pipes.some(pipe => this.#isDown(pipe)) })),
    }
  }

  #note(directions: string, { asBefore = false, link, ...asked }: LinkChange): void {
    const { isDown, delayMs, jitterMs, bandwidth, loss, queue, cross } = asked
    const given = Object.entries({ isDown, delayMs, jitterMs, bandwidth, loss, queue, cross })
    const before = asBefore ? {} : this.#changes.get(directions)
    const now: LinkChange = { ...before, link, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
    const { isDown: isDownNow, ...settings } = now
    const change = { ...settings, ...(isDownNow && { isDown: true }) }
    if (Object.keys(change).length === 1) this.#changes.delete(directions)
    else this.#changes.set(directions, change)
  }

  #settingsOf(pipe: number): PipeSettings {
    return inSeries(this.#plan.ofPipe[pipe]!.map(index => this.#now[index]!))
  }

  #isDown(pipe: number): boolean {
    return this.#plan.ofPipe[pipe]!.some(index => this.#down.has(index))
  }

  #numbersOf(link: LinkChange['link']): number[] {
    const isMeant =
      typeof link === 'string'
        ? ({ from, to }: Direction) => from === link || to === link
        : ({ from, to }: Direction) => (from === link[0] && to === link[1]) || (from === link[1] && to === link[0])
    const numbers = this.#plan.directions.flatMap((direction, index) => (isMeant(direction) ? index : []))
    if (typeof link !== 'string') return numbers
    // A router has many links, a node of the system one.
    const ends = new Set(
      numbers.flatMap(index => [this.#plan.directions[index]!.from, this.#plan.directions[index]!.to]),
    )
    return ends.size === 2 ? numbers : []
  }
}

export const noTopology = () => new UsageError('the nodes are side by side: expected a topology, which has links')
