import { existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { ConfigError, type ResolvedNode } from '../config/config.ts'
import type { Disk } from '../files/disk.ts'
import { Output } from '../files/output.ts'
import { runRoot } from '../files/run-root.ts'
import { shownTo } from '../files/shared-files.ts'
import { type Launched, launch } from '../hold/start/launch.ts'
import { coveredDirectories, type LocalMountPlan } from '../hold/start/machine-files.ts'
import type { Home, NodePlan, Runtime } from './runtime.ts'
import { Uplink } from './uplink.ts'

const searchPath = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'
/** The kernel needs 25 ms to close one. */
const uplinksMax = 8

/** Runs a node's command as a process of this machine. */
export class LocalRuntime implements Runtime {
  readonly workingDirectory: string
  readonly writable: readonly string[]
  readonly #plan: NodePlan
  readonly #executable: string
  readonly #write: readonly string[]
  readonly #uplinks: Uplink[] = []
  #places = 0

  /** @throws ConfigError if the program, or a path for it to write to, is not found */
  constructor(plan: NodePlan) {
    this.#plan = plan
    this.#executable = findExecutable(plan.definition)
    this.#write = findWritten(plan.definition)
    this.workingDirectory = plan.definition.cwd ?? '/'
    this.writable = coveredDirectories(runRoot())
  }

  async prepare(): Promise<void> {}

  place(): Home {
    const { definition, directory, address, files, shared, network } = this.#plan
    const environment = environmentOf(definition)
    const own = join(directory, `place${this.#places++}`)
    mkdirSync(own, { recursive: true })
    const stdout = new Output(join(own, 'stdout'))
    const stderr = new Output(join(own, 'stderr'))
    const uplink = this.#uplinks.pop() ?? new Uplink(address, NetworkNamespace.create(network))
    const mounts = (disk: Disk, random: string): LocalMountPlan => ({
      overlays: disk.layers,
      ...shownTo(files, random, definition.limits),
      shared,
      owned: runRoot(),
      write: this.#write,
    })
    return {
      uplink,
      stdout,
      stderr,
      inMemory: ['/dev/shm'],
      limits: definition.limits,
      environment,
      lowerOf: path => path,
      mounts,
      launch: (disk: Disk, random: string): Launched =>
        launch({
          command: [this.#executable, ...definition.command.slice(1)],
          environment,
          directory: this.workingDirectory,
          hostname: definition.name,
          mounts: mounts(disk, random),
          stdout: stdout.descriptor,
          stderr: stderr.descriptor,
          network: uplink.namespace.fd,
          isHeld: true,
        }),
      leave: () => {
        stdout.close()
        stderr.close()
        rmSync(own, { recursive: true, force: true })
        this.#keep(uplink)
      },
    }
  }

  close(): void {
    for (const uplink of this.#uplinks.splice(0)) uplink.close()
  }

  /** Keeps an uplink for another life. */
  #keep(uplink: Uplink): void {
    if (this.#uplinks.length < uplinksMax && uplink.clean()) this.#uplinks.push(uplink)
    else uplink.close()
  }
}

/**
 * The whole environment of a node that is a process of this machine. Nothing else of this tool's environment is passed
 * on.
 */
export const environmentOf = ({ cwd, env }: ResolvedNode): Readonly<Record<string, string>> => ({
  PATH: searchPath,
  HOME: process.env.HOME ?? '/',
  LANG: 'C.UTF-8',
  PWD: cwd ?? '/',
  ...env,
})

/** Path of the program, as the node would find it. */
export const findExecutable = ({ name, command, cwd, env }: ResolvedNode): string => {
  const program = command[0]!
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(cwd ?? '/', program)]
    : (env.PATH ?? searchPath).split(delimiter).map(place => join(place, program))
  const found = places.find(place => existsSync(place))
  if (found === undefined) throw new ConfigError([`nodes.${name}.command: expected a program, found no "${program}"`])
  return found
}

/** Paths of this machine to which the node really writes, with links resolved, because the node may see other links. */
export const findWritten = ({ name, write }: ResolvedNode): string[] =>
  write.map((path, index) => {
    const found = existsSync(path) ? realpathSync(path) : undefined
    if (found !== undefined && found !== '/') return found
    const what =
      found === undefined ? `expected a file or directory, found no ${path}` : 'expected less than all, found /'
    throw new ConfigError([`nodes.${name}.write[${index}]: ${what}`])
  })
