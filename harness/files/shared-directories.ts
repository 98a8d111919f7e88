import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SharedPlace } from '../../linux/mounts.ts'
import type { ResolvedNode } from '../config/config.ts'
import { copyTree } from './copy-tree.ts'
import { hashTree } from './disk.ts'

type Sharing = Pick<ResolvedNode, 'name' | 'shared'>

/** The directories that several nodes have. In an execution they outlive the lives of all nodes. */
export class SharedDirectories {
  readonly #directory: string
  /** Names of the directories. */
  readonly #names: ReadonlySet<string>
  /** The nodes that share anything. */
  readonly #nodes: ReadonlyMap<string, Sharing>
  /** By node, it and all with which it shares something, also over others. */
  readonly #groups: ReadonlyMap<string, ReadonlySet<string>>
  /** Those that have their content of this execution. */
  readonly #begun = new Set<string>()

  /** @param directory which does not exist yet */
  constructor(directory: string, nodes: readonly Sharing[]) {
    this.#directory = directory
    this.#names = new Set(nodes.flatMap(({ shared }) => shared.map(each => each.directory)))
    this.#nodes = new Map(nodes.filter(({ shared }) => shared.length > 0).map(node => [node.name, node]))
    this.#groups = groupsOf([...this.#nodes.values()])
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0
  }

  /** Nodes that share anything. */
  get nodes(): readonly string[] {
    return [...this.#nodes.keys()]
  }

  /** Whether what one node does may be noticed by another one without a message. */
  areTogether(node: string, other: string): boolean {
    return this.#groups.get(node)?.has(other) ?? false
  }

  /** Where a node has them. */
  placesOf(node: string): SharedPlace[] {
    const shared = this.#nodes.get(node)?.shared ?? []
    return shared.map(({ directory, path, isReadOnly }) => ({
      path,
      isReadOnly,
      source: this.#pathOf(directory),
      begin: content => this.#begin(directory, content),
    }))
  }

  /** For the next execution. No process may use them. */
  renew(): void {
    this.#begun.clear()
    for (const directory of this.#names) {
      rmSync(this.#pathOf(directory), { recursive: true, force: true })
      mkdirSync(this.#pathOf(directory), { recursive: true })
    }
  }

  /** Equal where their content is; times do not count. */
  hash(): string {
    const hash = createHash('sha1')
    for (const directory of this.#names) hashTree(hash, this.#pathOf(directory))
    return hash.digest('hex')
  }

  #pathOf(directory: string): string {
    return join(this.#directory, directory)
  }

  #begin(directory: string, content: string): void {
    if (this.#begun.has(directory)) return
    this.#begun.add(directory)
    if (existsSync(content)) copyTree(content, this.#pathOf(directory))
  }
}

const groupsOf = (nodes: readonly Sharing[]): ReadonlyMap<string, ReadonlySet<string>> => {
  const groups = new Map<string, ReadonlySet<string>>()
  for (const { name, shared } of nodes) {
    const own = shared.map(({ directory }) => directory)
    const peers = nodes.filter(other => other.shared.some(({ directory }) => own.includes(directory)))
    const all = new Set([name, ...peers.flatMap(peer => [...(groups.get(peer.name) ?? [])])])
    for (const each of all) groups.set(each, all)
  }
  return groups
}
