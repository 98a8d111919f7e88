import { createHash } from 'node:crypto'
import type { Budget } from '../budget.ts'
import { Diverged } from '../errors.ts'
import { labelOf, type NodeInput, type NodeSight, type NodeSystem, type Nodes } from '../node-system.ts'
import type { NodeOutcome, NodeTask } from './task.ts'

/** A node alone and the inputs that it took since its start. */
interface Present {
  readonly name: string
  readonly variant: number
  readonly node: NodeSystem
  readonly inputs: NodeInput[]
  readonly trail: string[]
  sight: NodeSight
}

/**
 * Executes nodes alone. If the present node is already on the path to a task's inputs, it continues from there;
 * otherwise it is started again.
 */
export class Solo {
  readonly #nodes: Pick<Nodes<never>, 'alone'>
  #present: Present | undefined

  constructor(nodes: Pick<Nodes<never>, 'alone'>) {
    this.#nodes = nodes
  }

  /** Must be called after the whole system was used: that has ended the present node. */
  forget(): void {
    this.#present = undefined
  }

  /**
   * @throws BudgetSpent
   *
   * @throws Diverged if an input before the last one is refused, although it was taken before
   */
  async perform({ start: { node: name, inputs } }: NodeTask, variant: number, budget: Budget): Promise<NodeOutcome> {
    budget.check()
    const present = this.#onTheWay(name, variant, inputs) ?? (await this.#start(name, variant))
    this.#present = undefined
    for (const input of inputs.slice(present.inputs.length)) {
      budget.check()
      const sight = await present.node.enter(input)
      if (sight === undefined) return impossible(present, inputs)
      present.inputs.push(input)
      present.trail.push(digestOf(sight))
      present.sight = sight
    }
    if (present.sight.findings.length === 0) this.#present = present
    return { trail: [...present.trail], last: present.sight }
  }

  #onTheWay(name: string, variant: number, inputs: readonly NodeInput[]): Present | undefined {
    const present = this.#present
    if (present?.name !== name || present.variant !== variant) return undefined
    return present.inputs.every((input, index) => index < inputs.length && isSame(input, inputs[index]!))
      ? present
      : undefined
  }

  async #start(name: string, variant: number): Promise<Present> {
    this.#present = undefined
    const node = this.#nodes.alone(name)
    const sight = await node.reset(variant)
    return { name, variant, node, inputs: [], trail: [digestOf(sight)], sight }
  }
}

/** @throws Diverged unless the refused input is the last one */
const impossible = ({ inputs, trail, sight }: Present, all: readonly NodeInput[]): NodeOutcome => {
  if (inputs.length === all.length - 1) return { trail: [...trail], last: undefined }
  const labels = sight.enabled.map(({ label }) => label)
  throw new Diverged(inputs.length + 1, labelOf(all[inputs.length]!), labels)
}

const isSame = (one: NodeInput, other: NodeInput): boolean =>
  'deliver' in one
    ? 'deliver' in other && one.deliver.content === other.deliver.content
    : 'choice' in other && one.choice === other.choice

const digestOf = ({ fingerprint, sent, enabled, findings }: NodeSight): string =>
  createHash('sha1')
    .update(
      JSON.stringify([
        fingerprint,
        sent.map(({ content }) => content),
        enabled.map(({ label }) => label),
        findings.map(({ kind }) => kind),
      ]),
    )
    .digest('hex')
