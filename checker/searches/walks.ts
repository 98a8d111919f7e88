import type { ChooserName, Walk } from '../choosers/chooser.ts'
import type { Random } from '../system/random.ts'
import type { Experience } from './experience.ts'
import { Counted, type Search, type SearchName } from './search.ts'

// Resetting real processes costs about a hundred steps, so shorter walks save little; but violations in short walks
// shrink faster.
const lengths = [32, 64, 128, 256] as const

/**
 * Number of variants of random numbers that walks alternate between. Some violations need other numbers. With more
 * variants, each would get fewer walks.
 */
const variants = 4
/**
 * Rounds in which walks use the first variant: each other variant costs new starts, which a short check would not get
 * back.
 */
const roundsOfFirst = 10

export const variantIn = (round: number): number => Math.max(0, round + 1 - roundsOfFirst) % variants

/** A walk of random length, with faults and overlaps. */
export const surpriseWalk = (random: Random, chooser: ChooserName): Walk => {
  const length = random.pick(lengths)
  return { chooser, seed: random.seed(), length }
}

/**
 * Number of straight steps before a late walk towards races begins. Some surprises do harm only after a system has run for a
 * while.
 */
const warmUpLengths = [0, 0, 16, 32, 64, 128] as const

/** A pause may take dozens of timers, so shorter patient walks would end in their first one. */
const patientLengths = [128, 256] as const
/** What takes seconds is over after some hundred steps. */
const timelyLengths = [64, 128, 256, 512] as const
/** A node is interrupted early, and what that breaks shows itself soon after. */
const interruptedLengths = [64, 128] as const

/** Searches of independent walks, each from the initial state: what each of their executions walks. See `choosers/`. */
const walking = {
  /** Towards races. */
  race: random => [surpriseWalk(random, 'race')],
  /** Towards races on slow links, after a straight beginning. */
  late: random => {
    const length = random.pick(warmUpLengths)
    return [{ chooser: 'straight', seed: random.seed(), length }, surpriseWalk(random, 'late race')]
  },
  /** Choices weigh by kind, in each walk otherwise. */
  weighted: random => [surpriseWalk(random, 'swarm')],
  /** By random priorities: probabilistic concurrency testing. */
  priority: random => [surpriseWalk(random, 'priorities')],
  /** Nodes wait for long between conversations. */
  patient: random => {
    const length = random.pick(patientLengths)
    return [{ chooser: 'long waits', seed: random.seed(), length }]
  },
  /** A node is paused while the others go on, loses its power, has its clock jump, or gets a message in parts. */
  interrupted: random => {
    const length = random.pick(interruptedLengths)
    return [{ chooser: 'interrupted', seed: random.seed(), length }]
  },
  /** Everything happens in time, on a network with delays. */
  timely: random => [{ chooser: 'in time', seed: random.seed(), length: random.pick(timelyLengths) }],
} as const satisfies { readonly [Name in SearchName]?: (random: Random) => readonly Walk[] }

export const walkSearch = (name: keyof typeof walking, experience: Experience, round: () => number): Search => {
  const counted = new Counted(name, experience.met)
  return {
    name,
    next: () => {
      // A given schedule was recorded with variant 0.
      const variant = experience.hasBegin ? 0 : variantIn(round())
      return experience.executionOf({ search: name, variant, walks: walking[name] })
    },
    learn: (_, came) => {
      if ('schedule' in came) counted.count(came)
    },
    coverage: () => counted.coverage,
  }
}
