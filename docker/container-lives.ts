import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join } from 'node:path'
import type Docker from 'dockerode'
import { hostsShownTo, trustShownTo } from '../harness/files/shared-files.ts'
import { sendSignal } from '../harness/hold/start/launch.ts'
import { type Ending, endingOfCode } from '../harness/native/ending.ts'
import { NativeDisk } from '../harness/native/native-disk.ts'
import { type NativeLife, type NativeRuntime, outputLengthMax } from '../harness/native/native-runtime.ts'
import type { NodePlan } from '../harness/node/runtime.ts'
import { NetworkNamespace } from '../linux/namespace.ts'
import { type Container, type ContainerPlan, startContainer } from './container.ts'
import { environmentIn, mountInside, rootOf } from './mounts.ts'
import { findProgram } from './program.ts'

const SIGKILL = 9
const SIGTERM = 15

/**
 * Runs a node's image in real time. Each life is a container of its own. All of them share the network of one container
 * that does nothing else.
 */
export class ContainerLives implements NativeRuntime {
  readonly workingDirectory: string
  readonly namespace: NetworkNamespace
  readonly #docker: Docker
  readonly #plan: NodePlan
  readonly #container: ContainerPlan
  readonly #keeper: Container
  readonly #disk: NativeDisk
  #lives = 0

  private constructor(
    docker: Docker,
    plan: NodePlan,
    container: ContainerPlan,
    writable: readonly string[],
    keeper: Container,
  ) {
    this.workingDirectory = container.workingDirectory
    this.#docker = docker
    this.#plan = plan
    this.#container = container
    this.#disk = new NativeDisk(plan.directory, writable, plan.definition)
    this.#keeper = keeper
    this.namespace = NetworkNamespace.of(keeper.pid, 'native')
  }

  /**
   * @param writable directories over which layers are mounted
   *
   * @throws EngineLacks
   */
  static async open(
    docker: Docker,
    plan: NodePlan,
    container: ContainerPlan,
    writable: readonly string[],
  ): Promise<ContainerLives> {
    const keeper = await startContainer(docker, container, join(plan.directory, 'network'))
    return new ContainerLives(docker, plan, container, writable, keeper)
  }

  async begin(): Promise<NativeLife> {
    const directory = join(this.#plan.directory, `life${this.#lives++}`)
    const container = await startContainer(this.#docker, this.#inItsNetwork(), directory, outputLengthMax)
    const { pid, stdout, stderr } = container
    try {
      this.#giveFiles(pid)
      const root = rootOf(pid)
      const environment = environmentIn(pid)
      const program = findProgram(pid, this.#container, this.#plan.definition)
      const watchman = killWithThisProcess(pid)
      let ending: Ending | undefined
      const ended = endingOf(container).then(found => {
        watchman.kill('SIGKILL')
        ending = found
      })
      container.letIn(program)
      const stop = () => void sendSignal(pid, SIGTERM)
      const leave = () => {
        closeSync(root)
        container.leave()
      }
      return { pid, root, environment, stdout, stderr, ended, stop, ending: () => ending, leave }
    } catch (error) {
      container.leave()
      throw error
    }
  }

  close(): void {
    this.namespace.close()
    this.#keeper.leave()
  }

  #inItsNetwork(): ContainerPlan {
    const { Hostname: _, HostConfig, ...options } = this.#container.options
    const NetworkMode = `container:${this.#keeper.id}`
    return { ...this.#container, options: { ...options, HostConfig: { ...HostConfig, NetworkMode } } }
  }

  #giveFiles(pid: number): void {
    const { files, shared } = this.#plan
    const shown = { files: hostsShownTo(files), additions: trustShownTo(files), empty: [], shared }
    const lowers = mountInside(pid, { scaffold: files.directory, overlays: this.#disk.next().layers, ...shown })
    for (const lower of lowers.values()) closeSync(lower)
  }
}

/** If the engine is gone, the container counts as killed. */
const endingOf = (container: Container): Promise<Ending> =>
  container.exitCode().then(endingOfCode, () => ({ signal: SIGKILL }))

/**
 * The engine's processes are not children of this one. So a child process watches this process and kills them when it
 * ends.
 */
const killWithThisProcess = (pid: number): ChildProcess => {
  const watchman = spawn('/bin/sh', ['-c', 'read -r _; kill -KILL "$0"', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Not in the process group that a terminal's Ctrl-C reaches.
    detached: true,
  })
  watchman.unref()
  return watchman
}
