import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type Docker from 'dockerode'
import { ConfigError, type ResolvedNode, type ResolvedSystem } from '../harness/config/config.ts'
import type { NativeEngine, NativeRuntime } from '../harness/native/native-runtime.ts'
import type { Engine, NodePlan, Runtime } from '../harness/node/runtime.ts'
import { connect } from './connect.ts'
import type { ContainerPlan } from './container.ts'
import { ContainerLives } from './container-lives.ts'
import { ContainerRuntime } from './container-runtime.ts'
import { EngineLacks } from './error.ts'
import { writeGate } from './gate.ts'
import { directoryOf, findImage, type Image, imageCommand, imageEnvironmentOf, type OnPull } from './image.ts'
import { type Labels, labelled, newLabels, removeContainers, removeStale } from './labels.ts'

/** The Docker engine, for the lifetime of a cluster. */
export class DockerEngine implements Engine, NativeEngine {
  readonly #docker: Docker
  /** By name of the image: a node that is added later has that of the node which it is like. */
  readonly #images: ReadonlyMap<string, Image>
  readonly #labels = newLabels()

  private constructor(docker: Docker, images: ReadonlyMap<string, Image>) {
    this.#docker = docker
    this.#images = images
  }

  /** The engine of a system, if it needs one. */
  static async openFor(system: ResolvedSystem, onPull?: OnPull): Promise<DockerEngine | undefined> {
    return system.nodes.some(({ image }) => image !== undefined) ? DockerEngine.open(system, onPull) : undefined
  }

  /**
   * Connects to the engine, finds the images of all nodes, and removes what killed runs left behind.
   *
   * @throws EngineLacks, ConfigError
   */
  static async open({ nodes }: ResolvedSystem, onPull: OnPull = () => {}): Promise<DockerEngine> {
    const docker = await connect()
    if (process.geteuid!() !== 0) throw new EngineLacks('only root can hold the processes of containers: run as root')
    await removeStale(docker)
    const images = new Map<string, Image>()
    for (const node of nodes.filter(({ image }) => image !== undefined)) {
      assertSources(node)
      const image = await findImage(docker, node, onPull)
      // Reports a missing command now rather than after the cluster began.
      imageCommand(image, node)
      images.set(node.image!, image)
    }
    return new DockerEngine(docker, images)
  }

  runtime(plan: NodePlan): Runtime {
    return new ContainerRuntime(this.#docker, plan, this.#containerOf(plan), this.#writableOf(plan))
  }

  /** @throws EngineLacks */
  nativeRuntime(plan: NodePlan): Promise<NativeRuntime> {
    return ContainerLives.open(this.#docker, plan, this.#containerOf(plan), this.#writableOf(plan))
  }

  /** Removes all containers. Call it when the cluster is closed. */
  async close(): Promise<void> {
    await removeContainers(this.#docker, this.#labels)
    for (let waitedMs = 0; waitedMs < removalMsMax; waitedMs += pauseMs) {
      if ((await labelled(this.#docker, this.#labels)).length === 0) return
      await sleep(pauseMs)
    }
    throw new EngineLacks(
      `the Docker engine still has containers after ${removalMsMax / 1000} s: ${await this.#left()}`,
    )
  }

  #containerOf({ definition, files }: NodePlan): ContainerPlan {
    const image = this.#images.get(definition.image!)!
    const gate = join(files.directory, 'gate')
    if (!existsSync(gate)) writeGate(gate)
    return {
      options: optionsOf(definition, image, files.directory, this.#labels),
      command: imageCommand(image, definition),
      workingDirectory: directoryOf(image, definition),
      gate,
    }
  }

  #writableOf({ definition }: NodePlan): string[] {
    return writableOf(definition, this.#images.get(definition.image!)!)
  }

  async #left(): Promise<string> {
    return (await labelled(this.#docker, this.#labels)).map(({ Id }) => Id.slice(0, 12)).join(', ')
  }
}

const removalMsMax = 20_000
const pauseMs = 20

const assertSources = ({ name, container }: ResolvedNode) => {
  const missing = container!.volumes.find(({ source }) => source !== undefined && !existsSync(source))
  if (missing === undefined) return
  throw new ConfigError([`nodes.${name}.container.volumes: expected a file or directory, found no ${missing.source}`])
}

/** The directories to which a node may write. Each comes before those inside of it. */
const writableOf = ({ container }: ResolvedNode, image: Image): string[] => {
  const { volumes, readOnly } = container!
  const ofNode = volumes.filter(({ source, isReadOnly }) => !isReadOnly && !isFile(source)).map(({ path }) => path)
  const fixed = volumes.filter(({ path }) => !ofNode.includes(path)).map(({ path }) => path)
  const ofImage = image.volumes.filter(path => !fixed.includes(path))
  return [...new Set([...(readOnly ? [] : ['/']), ...ofImage, ...ofNode])].sort()
}

const isFile = (path: string | undefined) => path !== undefined && statSync(path).isFile()

const optionsOf = (
  node: ResolvedNode,
  image: Image,
  scaffold: string,
  labels: Labels,
): Docker.ContainerCreateOptions => {
  const { volumes, tmpfs, readOnly, user, memoryBytesMax, pidsMax } = node.container!
  const mounted = volumes.filter(({ source }) => source !== undefined)
  return {
    Image: image.name,
    Hostname: node.name,
    Labels: labels,
    Env: imageEnvironmentOf(image, node),
    WorkingDir: directoryOf(image, node),
    // Docker would run the image's own health checks in real time.
    Healthcheck: { Test: ['NONE'] },
    Volumes: Object.fromEntries(volumes.filter(({ source }) => source === undefined).map(({ path }) => [path, {}])),
    ...(user !== undefined && { User: user }),
    HostConfig: {
      AutoRemove: true,
      NetworkMode: 'none',
      Binds: [
        `${scaffold}:${scaffold}`,
        ...mounted.map(
          ({ source, path, isReadOnly }) => `${source}:${path}${isReadOnly || isFile(source) ? ':ro' : ''}`,
        ),
      ],
      Tmpfs: Object.fromEntries(tmpfs.map(path => [path, ''])),
      ReadonlyRootfs: readOnly,
      // Docker's filter forbids disabling address randomisation. Each process gets our own filter.
      SecurityOpt: ['seccomp=unconfined'],
      LogConfig: { Type: 'none', Config: {} },
      ...(memoryBytesMax !== undefined && { Memory: memoryBytesMax }),
      ...(pidsMax !== undefined && { PidsLimit: pidsMax }),
    },
  }
}
