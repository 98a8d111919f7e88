import type { Checkpoint } from '../../checker/system/system.ts'
import { CannotMark } from '../../proxy/connection.ts'
import { networkPart } from '../../proxy/network-part.ts'
import type { ClientsMark } from '../clients/clients.ts'
import type { MarkedNode } from '../node/states.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import type { ExecutionMark, WayThere } from './execution.ts'
import type { Stage } from './stage.ts'

/** A cluster at one quiescent instant, whose own processes are rewound in place. */
export class ClusterMark implements Checkpoint {
  readonly way: WayThere
  readonly nodes: readonly MarkedNode[]
  readonly execution: ExecutionMark
  /** By which it is known again; undefined if it was marked as a part of something larger. */
  readonly outline: string | undefined
  readonly #stage: Stage
  #hasFailed = false

  constructor(
    stage: Stage,
    { way, nodes, execution, outline }: Pick<ClusterMark, 'way' | 'nodes' | 'execution' | 'outline'>,
  ) {
    this.#stage = stage
    this.way = way
    this.nodes = nodes
    this.execution = execution
    this.outline = outline
  }

  /** Whether going back to it failed, or would, because a life that it needs has been ended. */
  get isLost(): boolean {
    return this.#hasFailed || goneNode(this.#stage, this) !== undefined
  }

  fail(): void {
    this.#hasFailed = true
  }

  async discard(): Promise<void> {
    discard(this.#stage, this.nodes)
  }
}

/**
 * Marks the nodes and the present execution, which must be quiescent and without a finding.
 *
 * @throws CannotRewind, CannotMark; afterwards it must be checked whether the nodes are still there
 */
export const markCluster = (stage: Stage, clients: ClientsMark, outline: string): ClusterMark => {
  const { execution } = stage
  const nodes: MarkedNode[] = []
  try {
    for (const node of stage.nodes) nodes.push(node.mark())
    const [finding] = stage.settleAlive()
    if (finding) throw new CannotRewind(finding.message)
    if (stage.outline() !== outline) throw new CannotRewind('it does not stand still')
    standAt(stage, nodes)
    return new ClusterMark(stage, { way: execution.way, nodes, execution: execution.mark(clients), outline })
  } catch (error) {
    discard(stage, nodes)
    throw error
  }
}

/** Marks the present state of a stage, quiescent and without a finding; or says why that is not possible. */
export const tryToMark = (stage: Stage): ClusterMark | string => {
  const { clients, isOver } = stage.execution
  if (isOver) return 'its execution has ended'
  const mark = clients.mark()
  if (mark === undefined) return 'a client is in the middle of a call'
  try {
    return markCluster(stage, mark, stage.outline())
  } catch (error) {
    return whyNot(error)
  }
}

/** Frees what is held for these marks of the first nodes. */
const discard = (stage: Stage, marked: readonly MarkedNode[]): void => {
  for (const [index, each] of marked.entries()) stage.nodes[index]!.discard(each)
}

/** Goes back to a mark. Returns why that was not possible; the stage's execution has ended then. */
export const goBackTo = (stage: Stage, mark: ClusterMark): string | undefined => {
  const { nodes, runner } = stage
  stage.execution.clients.close()
  try {
    const gone = goneNode(stage, mark)
    if (gone) throw new CannotRewind(`${gone.name}: what it had is gone`)
    const network = stage.newNetwork(mark.execution.network)
    for (const { name, address } of stage.peers) network.attachments.attachPlayed(name, address)
    runner.stopUnsettled()
    for (const [index, node] of nodes.entries()) node.goBack(mark.nodes[index]!, network)
    network.kernels.goOn()
    stage.execution = stage.newExecution(mark.way, network, mark.execution)
    for (const [index, node] of nodes.entries()) node.goOn(mark.nodes[index]!)
    requireSame(stage, mark.outline)
    standAt(stage, mark.nodes)
    stage.execution.goOn()
    return undefined
  } catch (error) {
    mark.fail()
    stage.endExecution()
    return whyNot(error)
  }
}

const standAt = ({ nodes }: Stage, marked: readonly MarkedNode[]): void => {
  for (const [index, node] of nodes.entries()) node.standAt(marked[index]!)
}

const goneNode = ({ nodes }: Stage, mark: ClusterMark) => nodes.find((node, index) => !node.isThere(mark.nodes[index]!))

/** For the stage of one of its nodes, the part of a mark that is about this node. */
export const nodePartOf = ({ way, nodes, execution }: ClusterMark, stage: Stage, index: number): ClusterMark => {
  const { name } = stage.nodes[0]!
  const { faults, overlap, divide } = stage.system
  const budget = Object.entries({ ...faults, overlap, divide })
  const network = networkPart(execution.network, name)
  const time = execution.time?.forNodeAlone()
  return new ClusterMark(stage, {
    way,
    nodes: [nodes[index]!],
    execution: { ...execution, network, budget, delays: [], cutAt: undefined, healthy: undefined, time },
    outline: undefined,
  })
}

/** The state of a mark for another stage with these nodes, whose faults may still happen. */
export const wholeOf = ({ way, nodes, execution }: ClusterMark, stage: Stage): ClusterMark => {
  const { faults, overlap, divide } = stage.system
  const budget = Object.entries({ ...faults, overlap, divide })
  return new ClusterMark(stage, { way, nodes, execution: { ...execution, budget }, outline: undefined })
}

const requireSame = (stage: Stage, before: string | undefined): void => {
  const [finding] = stage.settleAlive()
  if (finding) throw new CannotRewind(finding.message)
  stage.execution.network.endStep()
  stage.watchUnanswered()
  if (before === undefined) return
  const now = stage.outline()
  if (now !== before) throw new CannotRewind('it is another than when it was marked')
}

/** Why something could not be marked or rewound, in one line. Other errors are thrown. */
export const whyNot = (error: unknown): string => {
  if (error instanceof CannotRewind || error instanceof CannotMark) return error.message
  throw error
}
