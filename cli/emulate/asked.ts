import { z } from 'zod'
import { manners, plain, type Value } from '../../checker/happening/happenings.ts'
import type { LinkChange } from '../../harness/timed/links.ts'
import type { Happening, WaySetting } from '../../harness/timed/timing.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { jumpMsMax } from '../../topologies/formats/units.ts'
import { expectedOnly, pipeShape, probability } from '../../topologies/pipe-shape.ts'
import { strikeShape } from '../../topologies/strike-shape.ts'

const name = z.string().min(1)
const { delayMs, ...shape } = pipeShape(expectedOnly)
const share = probability(expectedOnly).exactOptional()

const pipe: z.ZodType<PipeSettings> = z.strictObject({
  delayMs: delayMs.default(0),
  ...shape,
  duplicate: share,
  reorder: share,
  corrupt: share,
})

/** The settings of a link in one direction. */
export const way: z.ZodType<WaySetting> = z.strictObject({
  from: name,
  to: name,
  isCut: z.boolean().exactOptional(),
  pipe: pipe.nullable().exactOptional(),
})

const link = {
  link: z.union([name, z.tuple([name, name])]),
  asBefore: z.boolean().exactOptional(),
  isDown: z.boolean().exactOptional(),
  delayMs: delayMs.exactOptional(),
  ...shape,
}

/** How a link of the topology differs from what it was. */
export const linkChange: z.ZodType<LinkChange> = z.strictObject(link)

/** A program to run in a node. */
export const execSchema = z.strictObject({ node: name, command: z.array(z.string()).min(1) })

/** A node to add, and the one that it is like. */
export const addSchema = z.strictObject({ name, like: name })

/** What is to happen now: a line of a script without its time. */
export const lineSchema = z.strictObject({ line: z.string() })

/** What is to happen at which times of the run: the lines of a script of churn. */
export const planSchema = z.strictObject({ script: z.string() })

const values = {
  node: name,
  word: name,
  manner: z.enum(manners),
  jump: z.number().min(-jumpMsMax).max(jumpMsMax),
  groups: z.array(z.array(name).min(1)).min(1),
  ...strikeShape(z.string()),
} satisfies Record<Value, z.ZodType>

/** Actions that a running system accepts. */
export const actionSchema = z.discriminatedUnion('does', [
  z.strictObject({ does: z.literal('link'), ...link }),
  z.strictObject({ does: z.literal('set'), ways: z.array(way).min(1) }),
  ...plain.map(({ does, takes }) => {
    const said = Object.entries(takes).map(([name, value]) => [name, values[value]])
    return z.strictObject({ does: z.literal(does), ...Object.fromEntries(said) })
  }),
]) as unknown as z.ZodType<Happening>
