import { existsSync } from 'node:fs'
import { isAbsolute, posix } from 'node:path'
import { ConfigError, type ResolvedNode } from '../harness/config/config.ts'
import type { ContainerPlan } from './container.ts'
import { insideFilesOf } from './mounts.ts'

/**
 * Path of the program in a waiting container.
 *
 * @param pid of the container's first process
 *
 * @throws ConfigError if it does not exist
 */
export const findProgram = (
  pid: number,
  { command, workingDirectory, options }: ContainerPlan,
  { name, image }: ResolvedNode,
): string => {
  const program = command[0]!
  const searchPath = options.Env!.find(line => line.startsWith('PATH='))!.slice('PATH='.length)
  const places = program.includes('/')
    ? [isAbsolute(program) ? program : posix.resolve(workingDirectory, program)]
    : searchPath.split(':').map(place => posix.join(place, program))
  const found = insideFilesOf(pid, () => places.find(place => existsSync(place)))
  if (found !== undefined) return found
  throw new ConfigError([`nodes.${name}.command: expected a program of the image "${image}", found no "${program}"`])
}
