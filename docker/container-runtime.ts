import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { shownTo } from '../harness/files/shared-files.ts'
import type { Home, NodePlan, Runtime } from '../harness/node/runtime.ts'
import { Uplink } from '../harness/node/uplink.ts'
import { setLastIdIn } from '../linux/ids.ts'
import { NetworkNamespace } from '../linux/namespace.ts'
import { type Container, type ContainerPlan, startContainer } from './container.ts'
import { shareCpu } from './cpu-group.ts'
import { environmentIn, mountInside, rootOf } from './mounts.ts'
import { findProgram } from './program.ts'

/** Id of a container's first process, and the only one when it begins. */
const firstId = 1

/**
 * Runs a node's image. Each life is a container of its own, which is started ahead and waits before the life begins.
 */
export class ContainerRuntime implements Runtime {
  readonly workingDirectory: string
  readonly writable: readonly string[]
  readonly #docker: Docker
  readonly #plan: NodePlan
  readonly #container: ContainerPlan
  readonly #inMemory: readonly string[]
  #waiting: Container | undefined
  #containers = 0

  /** @param writable directories over which layers are mounted */
  constructor(docker: Docker, plan: NodePlan, container: ContainerPlan, writable: readonly string[]) {
    this.#docker = docker
    this.#plan = plan
    this.#container = container
    this.workingDirectory = container.workingDirectory
    this.writable = writable
    this.#inMemory = ['/dev/shm', ...plan.definition.container!.tmpfs]
  }

  async prepare(): Promise<void> {
    if (this.#waiting) return
    const directory = join(this.#plan.directory, `container${this.#containers++}`)
    this.#waiting = await startContainer(this.#docker, this.#container, directory)
  }

  place(): Home {
    const container = this.#waiting!
    this.#waiting = undefined
    const { pid, stdout, stderr } = container
    const uplink = new Uplink(this.#plan.address, NetworkNamespace.of(pid, this.#plan.network))
    let lowers = new Map<string, number>()
    return {
      uplink,
      stdout,
      stderr,
      inMemory: this.#inMemory,
      limits: this.#plan.definition.limits,
      mounts: undefined,
      // Read from the process, because Docker adds variables.
      environment: environmentIn(pid),
      lowerOf: directory => `/proc/self/fd/${lowers.get(directory)}`,
      launch: (disk, random) => {
        const { files, shared } = this.#plan
        shareCpu(pid)
        lowers = mountInside(pid, {
          scaffold: files.directory,
          overlays: disk.layers,
          ...shownTo(files, random, this.#plan.definition.limits),
          shared,
        })
        const program = findProgram(pid, this.#container, this.#plan.definition)
        // Threads of the engine's starter have used up a varying number of ids.
        setLastIdIn(pid, firstId)
        return { pid, isContainer: true, root: rootOf(pid), release: () => container.letIn(program) }
      },
      leave: () => {
        uplink.close()
        for (const lower of lowers.values()) closeSync(lower)
        container.leave()
      },
    }
  }

  close(): void {
    this.#waiting?.leave()
    this.#waiting = undefined
  }
}
