import type Docker from 'dockerode'
import { EngineLacks, engineReasonOf } from './error.ts'

/** Where the engine listens. */
export const engineAddress = (): string => process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'

/**
 * The engine that DOCKER_HOST names, or else this machine's own.
 *
 * @throws EngineLacks if none answers
 */
export const connect = async (): Promise<Docker> => {
  // Loaded on use, because most systems do not need it and it would take a third of each command's start.
  const { default: Engine } = await import('dockerode')
  const docker = new Engine()
  try {
    await docker.ping()
    return docker
  } catch (error) {
    throw new EngineLacks(`${explain(error as NodeJS.ErrnoException)} at ${engineAddress()}: ${remedyOf(error)}`, {
      cause: error,
    })
  }
}

const explain = (error: NodeJS.ErrnoException): string => {
  if (error.code === 'EACCES') return 'this user may not speak with the Docker engine'
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') return 'no Docker engine answers'
  return `the Docker engine cannot be reached (${engineReasonOf(error)})`
}

const remedyOf = (error: unknown): string =>
  (error as NodeJS.ErrnoException).code === 'EACCES'
    ? 'run as root'
    : 'start it, or set DOCKER_HOST to where it listens'
