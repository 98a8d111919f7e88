import { dirname, resolve } from 'node:path'
import { ConfigError } from '../../harness/config/config.ts'
import { isMapping, type Mapping, merged } from './merge.ts'

/** A place in a file: names and indices from its root. */
export type FieldPath = readonly PropertyKey[]

/**
 * The content of a file, each service with what it extends.
 *
 * @param contentOf the content of another file, as it is written
 *
 * @throws ConfigError for a service that is not there, or extends itself
 */
export const extendedServices = (
  content: unknown,
  path: string,
  problem: (place: FieldPath, message: string) => string,
  contentOf: (path: string) => unknown,
): unknown => {
  if (!isMapping(content) || !isMapping(content.services)) return content
  const whole = (name: string, file: string, services: Mapping, within: readonly string[]): unknown => {
    const service = services[name]
    if (!isMapping(service) || service.extends === undefined) return service
    const { extends: base, ...own } = service
    const fail = (message: string): never => {
      const place = file === path ? ['services', name, 'extends'] : ['services']
      throw new ConfigError([problem(place, message)])
    }
    const { service: other, file: said } = isMapping(base) ? base : { service: base, file: undefined }
    if (typeof other !== 'string' || !['string', 'undefined'].includes(typeof said))
      return fail('expected the name of a service, or { service, file }')
    const from = said === undefined ? file : resolve(dirname(file), said as string)
    const those = from === file ? services : servicesIn(contentOf(from), from)
    if (within.includes(`${from} ${other}`)) return fail(`expected no circle, but ${other} extends ${name}`)
    const found = whole(other, from, those, [...within, `${from} ${other}`])
    if (!isMapping(found))
      return fail(`expected a service, found none named ${other}${said === undefined ? '' : ` in ${said}`}`)
    return merged(found, own)
  }
  const services = content.services
  const extended = Object.keys(services).map(name => [name, whole(name, path, services, [`${path} ${name}`])])
  return { ...content, services: Object.fromEntries(extended) }
}

const servicesIn = (content: unknown, path: string): Mapping => {
  const absolute = withAbsolutePaths(content, dirname(path))
  return isMapping(absolute) && isMapping(absolute.services) ? absolute.services : {}
}

/** The content of a file whose relative paths begin in this directory, for use in another file. */
export const withAbsolutePaths = (content: unknown, directory: string): unknown => {
  if (!isMapping(content)) return content
  const ofFiles = (files: unknown) =>
    mapped(files, each => (isMapping(each) ? withPath(each, 'file', directory) : each))
  return {
    ...content,
    ...(content.services !== undefined && { services: mapped(content.services, each => serviceIn(each, directory)) }),
    ...(content.secrets !== undefined && { secrets: ofFiles(content.secrets) }),
    ...(content.configs !== undefined && { configs: ofFiles(content.configs) }),
  }
}

const mapped = (value: unknown, change: (each: unknown) => unknown): unknown =>
  isMapping(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, change(each)])) : value

const withPath = (value: Mapping, name: string, directory: string): Mapping =>
  typeof value[name] === 'string' ? { ...value, [name]: resolve(directory, value[name]) } : value

const serviceIn = (service: unknown, directory: string): unknown => {
  if (!isMapping(service)) return service
  const { build, env_file, volumes } = service
  const fileIn = (file: unknown) =>
    isMapping(file) ? withPath(file, 'path', directory) : typeof file === 'string' ? resolve(directory, file) : file
  return {
    ...service,
    ...(typeof build === 'string' && { build: resolve(directory, build) }),
    ...(isMapping(build) && { build: withPath({ context: '.', ...build }, 'context', directory) }),
    ...(env_file !== undefined && { env_file: Array.isArray(env_file) ? env_file.map(fileIn) : fileIn(env_file) }),
    ...(Array.isArray(volumes) && { volumes: volumes.map(volume => volumeIn(volume, directory)) }),
  }
}

const volumeIn = (volume: unknown, directory: string): unknown => {
  if (isMapping(volume)) return volume.type === 'bind' ? withPath(volume, 'source', directory) : volume
  const [, source, rest] = /^([./][^:]*)(:.*)$/.exec(String(volume)) ?? []
  return source === undefined ? volume : `${resolve(directory, source)}${rest}`
}
