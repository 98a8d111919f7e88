import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Compose, ComposeService } from './schema.ts'

export type ComposeVolume = ComposeService['volumes'][number]

export const isInMemory = (volume: ComposeVolume): boolean => 'type' in volume && volume.type === 'tmpfs'

/** Whether it is of this machine. In the short form, a source that begins like a path is a directory. */
export const isBind = (volume: ComposeVolume): boolean =>
  'type' in volume ? volume.type === 'bind' : /^[./~]/.test(volume.source ?? '')

/** Whether other services may have the same one. */
export const isNamed = (volume: ComposeVolume): volume is ComposeVolume & { readonly source: string } =>
  !isInMemory(volume) && !isBind(volume) && volume.source !== undefined

/** As `container.volumes` has it. */
export const volumeText = (volume: ComposeVolume, directory: string): string[] => {
  if (isInMemory(volume)) return []
  if (!isBind(volume)) return [volume.target!]
  const source = volume.source!.replace(/^~(?=\/|$)/, homedir())
  return [`${resolve(directory, source)}:${volume.target}${volume.isReadOnly ? ':ro' : ''}`]
}

/**
 * Named volumes of several nodes, each with its path in each of them.
 *
 * @param nodesOf returns the nodes of a service
 */
export const sharedVolumes = (
  services: Compose['services'],
  nodesOf: (service: string) => readonly string[],
): Record<string, Record<string, string>> => {
  const volumes = new Map<string, Record<string, string>>()
  for (const [name, service] of Object.entries(services)) {
    for (const { source, target, isReadOnly } of service.volumes.filter(isNamed)) {
      const path = `${target}${isReadOnly ? ':ro' : ''}`
      volumes.set(source, { ...volumes.get(source), ...Object.fromEntries(nodesOf(name).map(node => [node, path])) })
    }
  }
  return Object.fromEntries([...volumes].filter(([, paths]) => Object.keys(paths).length > 1))
}

/** The service without these named ones. */
export const withoutVolumes = (service: ComposeService, names: ReadonlySet<string>): ComposeService => ({
  ...service,
  volumes: service.volumes.filter(volume => !(isNamed(volume) && names.has(volume.source))),
})
