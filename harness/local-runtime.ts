import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { ConfigError, type ResolvedNode } from './config.ts'
import type { Disk } from './disk.ts'
import { type Launched, launch } from './hold/launch.ts'
import type { MountPlan } from './hold/mounts.ts'
import { Output } from './output.ts'
import type { NodePlan, Place, Runtime } from './runtime.ts'
import { shownTo } from './shared-files.ts'
import { Uplink } from './uplink.ts'

const searchPath = process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'
const uplinksMax = 2

/** Runs a node's command as a process of this machine. */
export class LocalRuntime implements Runtime {
  readonly workingDirectory: string
  readonly writable: readonly string[]
  readonly #plan: NodePlan
  readonly #executable: string
  readonly #uplinks: Uplink[] = []
  #places = 0

  /** @throws ConfigError where the program is not found */
  constructor(plan: NodePlan) {
    this.#plan = plan
    this.#executable = findExecutable(plan.definition)
    this.workingDirectory = plan.definition.cwd ?? '/'
    this.writable = coveredBy(this.workingDirectory)
  }

  async prepare(): Promise<void> {}

  place(): Place {
    const { definition, directory, address, files } = this.#plan
    const own = join(directory, `place${this.#places++}`)
    mkdirSync(own, { recursive: true })
    const stdout = new Output(join(own, 'stdout'))
    const stderr = new Output(join(own, 'stderr'))
    const uplink = this.#uplinks.pop() ?? new Uplink(address)
    const mounts = (disk: Disk, seed: number): MountPlan => ({ overlays: disk.layers, ...shownTo(files, seed) })
    return {
      uplink,
      stdout,
      stderr,
      inMemory: ['/dev/shm'],
      lowerOf: path => path,
      mounts,
      launch: (disk: Disk, seed: number): Launched =>
        launch({
          command: [this.#executable, ...definition.command.slice(1)],
          environment: environmentOf(definition),
          directory: this.workingDirectory,
          hostname: definition.name,
          mounts: mounts(disk, seed),
          stdout: stdout.descriptor,
          stderr: stderr.descriptor,
          network: uplink.namespace.fd,
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

  /** Another life may have it. */
  #keep(uplink: Uplink): void {
    if (this.#uplinks.length < uplinksMax && uplink.clean()) this.#uplinks.push(uplink)
    else uplink.close()
  }
}

/** A layer over /tmp serves for what is inside it too. The whole file system is never covered. */
export const coveredBy = (workingDirectory: string): string[] => {
  if (workingDirectory === '/' || workingDirectory === '/tmp' || workingDirectory.startsWith('/tmp/')) return ['/tmp']
  return ['/tmp', workingDirectory]
}

/** What a program of this machine finds in its environment. */
export const environmentOf = ({ env }: ResolvedNode): Readonly<Record<string, string>> => ({
  PATH: searchPath,
  HOME: process.env.HOME ?? '/',
  LANG: 'C.UTF-8',
  ...env,
})

/** Where the program is, as the node would find it. */
export const findExecutable = ({ name, command, cwd, env }: ResolvedNode): string => {
  const program = command[0]!
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : resolve(cwd ?? '/', program)]
    : (env.PATH ?? searchPath).split(delimiter).map(place => join(place, program))
  const found = places.find(place => existsSync(place))
  if (found === undefined) throw new ConfigError([`nodes.${name}.command: expected a program, found no "${program}"`])
  return found
}
