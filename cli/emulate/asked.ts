import { z } from 'zod'
import type { Happening, WaySetting } from '../../harness/timed/timing.ts'
import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { manners } from '../../topologies/churn/plan.ts'
import { crossBurstMax } from '../../topologies/cross.ts'
import { disciplines, queuePacketsMax } from '../../topologies/topology.ts'

const name = z.string().min(1)
const milliseconds = z.number().min(0)
const probability = z.number().min(0).max(1)

const discipline = z.enum(disciplines).exactOptional()

const inOneDirection = {
  jitterMs: milliseconds.exactOptional(),
  bandwidth: z.number().min(1).exactOptional(),
  queue: z
    .union([
      z.strictObject({ packets: z.int().min(1).max(queuePacketsMax), discipline }),
      z.strictObject({ bytes: z.int().min(1), discipline }),
    ])
    .exactOptional(),
  loss: probability.exactOptional(),
  cross: z
    .strictObject({
      bandwidth: z.number().min(0),
      bytes: z.int().min(1).exactOptional(),
      burst: z.int().min(1).max(crossBurstMax).exactOptional(),
    })
    .exactOptional(),
}

const pipe: z.ZodType<PipeSettings> = z.strictObject({
  delayMs: milliseconds.default(0),
  ...inOneDirection,
  duplicate: probability.exactOptional(),
  reorder: probability.exactOptional(),
  corrupt: probability.exactOptional(),
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
  delayMs: milliseconds.exactOptional(),
  ...inOneDirection,
}

/** A program to run in a node. */
export const execSchema = z.strictObject({ node: name, command: z.array(z.string()).min(1) })

/** Actions that a running system accepts. */
export const actionSchema: z.ZodType<Happening> = z.discriminatedUnion('does', [
  z.strictObject({ does: z.literal('join'), node: name }),
  z.strictObject({ does: z.literal('leave'), node: name, manner: z.enum(manners) }),
  z.strictObject({ does: z.literal('restart'), node: name }),
  z.strictObject({ does: z.literal('partition'), groups: z.array(z.array(name).min(1)).min(1) }),
  z.strictObject({ does: z.literal('heal') }),
  z.strictObject({ does: z.literal('reset'), node: name, peer: name }),
  z.strictObject({ does: z.literal('link'), ...link }),
  z.strictObject({ does: z.literal('set'), ways: z.array(way).min(1) }),
])
