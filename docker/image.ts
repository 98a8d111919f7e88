import { posix } from 'node:path'
import type Docker from 'dockerode'
import { execa } from 'execa'
import { ConfigError, type ResolvedNode } from '../harness/config/config.ts'
import { engineAddress } from './connect.ts'
import { engineReasonOf, httpStatusOf } from './error.ts'

/** Settings of an image for its containers. */
export interface Image {
  readonly name: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly environment: readonly string[]
  readonly directory: string
  readonly volumes: readonly string[]
}

/** Called with each line of progress while an image is pulled or built. */
export type OnPull = (line: string) => void

/**
 * Looks up an image in the engine, which asks a registry only if the node's configuration says so.
 *
 * @throws ConfigError if it does not exist, or is not for this machine
 */
export const findImage = async (docker: Docker, node: ResolvedNode, onPull: OnPull): Promise<Image> => {
  const name = node.image!
  const { pull, build } = node.container!
  if (pull === 'always' && !build) await pullImage(docker, node, onPull)
  try {
    return await inspect(docker, node)
  } catch (error) {
    if (httpStatusOf(error) !== 404) throw error
    if (build) await buildImage(node, onPull)
    else if (pull === 'missing') await pullImage(docker, node, onPull)
    else if (pull === 'always') throw error
    else throw wrong(node, `the engine has no "${name}"; "docker pull ${name}", or container: { pull: 'missing' }`)
    return inspect(docker, node)
  }
}

const inspect = async (docker: Docker, node: ResolvedNode): Promise<Image> => {
  const name = node.image!
  const { Config, Os, Architecture } = await docker.getImage(name).inspect()
  if (Os !== 'linux' || Architecture !== 'amd64') throw wrong(node, `"${name}" is for ${Os} on ${Architecture}`)
  return {
    name,
    entrypoint: [Config?.Entrypoint ?? []].flat(),
    command: Config?.Cmd ?? [],
    environment: Config?.Env ?? [],
    directory: Config?.WorkingDir || '/',
    volumes: Object.keys(Config?.Volumes ?? {}),
  }
}

const pullImage = async (docker: Docker, node: ResolvedNode, onPull: OnPull): Promise<void> => {
  const name = node.image!
  try {
    const stream = await docker.pull(withTag(name))
    await new Promise<void>((resolve, reject) =>
      docker.modem.followProgress(
        stream,
        error => (error ? reject(error) : resolve()),
        ({ id, status }: { id?: string; status?: string }) => onPull(`${name}: ${id ? `${id} ` : ''}${status ?? ''}`),
      ),
    )
  } catch (error) {
    throw wrong(node, `"${name}" cannot be pulled: ${engineReasonOf(error)}`)
  }
}

/** Leaves it to Docker’s own client, which knows what a context leaves out and which builder is there. */
const buildImage = async (node: ResolvedNode, onLine: OnPull): Promise<void> => {
  const name = node.image!
  const { context, dockerfile, target, args } = node.container!.build!
  const options = Object.entries(args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
  if (target !== undefined) options.push('--target', target)
  const built = execa('docker', ['build', '--tag', name, '--file', dockerfile, ...options, context], {
    all: true,
    reject: false,
    stdin: 'ignore',
    env: { DOCKER_HOST: engineAddress() },
  })
  const last: string[] = []
  for await (const line of built.iterable({ from: 'all' })) {
    onLine(`${name}: ${line}`)
    if (line.trim() !== '') last.push(line.trim())
  }
  const { failed, exitCode, code } = await built
  if (!failed) return
  const reason = code === 'ENOENT' ? 'there is no program "docker"' : (last.at(-1) ?? `docker ended with ${exitCode}`)
  throw wrong(node, `"${name}" cannot be built of ${context}: ${reason}`)
}

/** Without a tag, all tags would be pulled. */
const withTag = (name: string) => (/[:@][^/]*$/.test(name) ? name : `${name}:latest`)

const wrong = ({ name }: ResolvedNode, found: string) =>
  new ConfigError([`nodes.${name}.image: expected an image of the engine for Linux on x86-64, but ${found}`])

/** The program of a container of the image, with its arguments, combined as Docker does. */
export const imageCommand = (image: Image, { name, command, container }: ResolvedNode): string[] => {
  const entrypoint = container!.entrypoint ?? image.entrypoint
  const own = container!.entrypoint === undefined ? image.command : []
  const whole = [...entrypoint, ...(command.length > 0 ? command : own)]
  if (whole.length > 0) return whole
  throw new ConfigError([`nodes.${name}.command: expected a command, since the image "${image.name}" has none`])
}

const searchPath = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The environment of a container. Docker adds HOSTNAME and HOME. */
export const imageEnvironmentOf = (image: Image, { env }: ResolvedNode): string[] => {
  const all = new Map([searchPath, ...image.environment].map(line => line.split(/=(.*)/s) as [string, string]))
  for (const [name, value] of Object.entries(env)) all.set(name, value)
  return [...all].map(([name, value]) => `${name}=${value}`)
}

/** The working directory of a container. */
export const directoryOf = (image: Image, { cwd }: ResolvedNode): string => posix.resolve(image.directory, cwd ?? '.')
