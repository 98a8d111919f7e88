import { basename, dirname, resolve } from 'node:path'
import {
  type BuildDefinition,
  ConfigError,
  type DescribedNodes,
  type NodeDefinition,
  type NodesFile,
  readNodes,
} from '../../harness/config/config.ts'
import type { FieldPath } from './extend.ts'
import { type ComposeFile, readComposeFile, variablesIn } from './file.ts'
import type { Variables } from './interpolate.ts'
import { composeNotesOf } from './notes.ts'
import type { Compose, ComposeService } from './schema.ts'
import { isBind, isInMemory, isNamed, sharedVolumes, volumeText, withoutVolumes } from './volumes.ts'

/**
 * The services of a compose file as nodes, each in a container of its image. A service with several containers gives
 * nodes `name-1`, `name-2` and so on, which also share the service's name. They start in the order of `depends_on`;
 * one with the condition `service_healthy` when the other is ready, and with `service_completed_successfully` when it has
 * ended with code 0.
 *
 * @param path relative to the configuration
 */
export const fromCompose = (path: string, options: ComposeOptions = {}): NodesFile => ({
  [readNodes]: directory => nodesOf(resolve(directory, path), options),
})

export interface ComposeOptions {
  /** Services of these profiles are nodes too; by default those that `COMPOSE_PROFILES` names. `*` stands for all. */
  readonly profiles?: readonly string[] | undefined
}

const nodesOf = (path: string, options: ComposeOptions): DescribedNodes => {
  const { file, leftOut } = ofProfiles(readComposeFile(path), options)
  const problems = [
    ...imageProblems(file),
    ...dependencyProblems(file),
    ...portProblems(file),
    ...volumeProblems(file),
    ...givenProblems(file),
    ...variablesProblems(file, dirname(path)),
  ]
  if (Object.keys(file.content.services).length === 0)
    problems.push(file.problem(['services'], 'expected at least one service'))
  if (problems.length > 0) throw new ConfigError(problems)
  const { services } = file.content
  const shared = sharedVolumes(services, name => namesOf(name, countOf(services[name]!)))
  const nodes = inOrder(services).flatMap(name =>
    nodesOfService(name, file, dirname(path), new Set(Object.keys(shared))),
  )
  return { nodes: Object.fromEntries(nodes), shared, notes: [...composeNotesOf(path, file.content), ...leftOut] }
}

/** The file without the services of profiles that are not chosen, with a line for each of these. */
const ofProfiles = (file: ComposeFile, { profiles }: ComposeOptions) => {
  const chosen = profiles ?? file.variables.COMPOSE_PROFILES?.split(',') ?? []
  const isChosen = ({ profiles: own }: ComposeService) =>
    own.length === 0 || chosen.includes('*') || own.some(profile => chosen.includes(profile))
  const all = Object.entries(file.content.services)
  const leftOut = all
    .filter(([, service]) => !isChosen(service))
    .map(([name, { profiles: own }]) =>
      file.problem(['services', name], `is left out: it belongs to the profile ${own.join(' or ')}`),
    )
  const there = all.filter(([, service]) => isChosen(service))
  const names = new Set(there.map(([name]) => name))
  const services = Object.fromEntries(there.map(([name, service]) => [name, withoutAbsent(service, names)]))
  return { file: { ...file, content: { ...file.content, services } }, leftOut }
}

/** The service without those of others that it would depend on only if they are there. */
const withoutAbsent = (service: ComposeService, names: ReadonlySet<string>): ComposeService => {
  const needed = Object.entries(service.depends_on).filter(([other, { required }]) => required || names.has(other))
  return { ...service, depends_on: Object.fromEntries(needed) }
}

type Services = Readonly<Record<string, ComposeService>>

const countOf = ({ scale, deploy }: ComposeService): number => scale ?? deploy.replicas ?? 1

const nodesOfService = (
  name: string,
  file: ComposeFile,
  directory: string,
  shared: ReadonlySet<string>,
): [string, NodeDefinition][] => {
  const { services } = file.content
  const service = services[name]!
  const count = countOf(service)
  const after = Object.entries(service.depends_on).flatMap(([other, { condition }]) =>
    condition === 'service_started' ? [] : namesOf(other, countOf(services[other]!)),
  )
  const definition = {
    ...definitionOf(name, withoutVolumes(service, shared), file, directory),
    ...(isAwaitedToEnd(name, services) && { exits: 'completes' as const }),
    ...(after.length > 0 && { after }),
  }
  const others = namesBeside(name, service)
  if (count === 1) return [[name, { ...definition, ...(others.length > 0 && { aliases: others }) }]]
  return namesOf(name, count).map(each => [each, { ...definition, aliases: [name, ...others] }])
}

/** Whether another service waits for its end. */
const isAwaitedToEnd = (name: string, services: Services): boolean =>
  Object.values(services).some(({ depends_on: others }) => others[name]?.condition === 'service_completed_successfully')

/** Other names by which a service is reached. */
const namesBeside = (name: string, { container_name, networks = [] }: ComposeService): string[] =>
  [...new Set([...(container_name === undefined ? [] : [container_name]), ...networks])].filter(each => each !== name)

/** Names of the nodes of a service. */
const namesOf = (name: string, count: number): string[] =>
  count === 1 ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`)

const definitionOf = (
  name: string,
  service: ComposeService,
  { content, variables }: ComposeFile,
  directory: string,
): NodeDefinition => {
  const { environment, healthcheck, deploy } = service
  const limits = deploy.resources?.limits
  return {
    image: service.image ?? builtName(name, content, variables, directory),
    command: service.command ?? undefined,
    env: {
      ...variablesOfFiles(service, directory),
      ...setAmong(environment, variables),
    },
    cwd: service.working_dir,
    ...(service.shm_size !== undefined && { limits: { shm: service.shm_size } }),
    healthy: healthcheck?.disable ? undefined : healthcheck?.test,
    container: {
      entrypoint: service.entrypoint ?? undefined,
      user: service.user,
      volumes: [
        ...service.volumes.flatMap(volume => volumeText(volume, directory)),
        ...givenTo(service, content, directory),
      ],
      tmpfs: [...service.tmpfs, ...service.volumes.flatMap(volume => (isInMemory(volume) ? [volume.target] : []))],
      readOnly: service.read_only,
      memory: service.mem_limit ?? limits?.memory,
      pids: service.pids_limit ?? limits?.pids,
      pull: pullOf(service),
      build: service.build && buildOf(service.build, variables, directory),
    },
  }
}

/** The name that Compose gives to an image which it builds: that of the project, and of the service. */
const builtName = (name: string, { name: given }: Compose, variables: Variables, directory: string): string => {
  const project = given ?? variables.COMPOSE_PROJECT_NAME ?? basename(directory)
  return `${project
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]/g, '')
    .replace(/^[_-]+/, '')}-${name}`
}

const pullOf = ({ pull_policy: policy }: ComposeService): 'never' | 'missing' | 'always' | undefined => {
  if (policy === undefined || policy === 'never' || policy === 'always') return policy
  return policy === 'build' ? 'never' : 'missing'
}

const buildOf = (
  { context, dockerfile, target, args }: NonNullable<ComposeService['build']>,
  variables: Variables,
  directory: string,
): BuildDefinition => ({ context: resolve(directory, context), dockerfile, target, args: setAmong(args, variables) })

/** Variables of a service. One without a value has that of the process, if it has one. */
const setAmong = (environment: Variables, variables: Variables): Record<string, string> =>
  Object.fromEntries(
    Object.entries(environment).flatMap(
      ([name, value = Object.hasOwn(variables, name) ? variables[name] : undefined]) =>
        value === undefined ? [] : [[name, value]],
    ),
  )

const variablesOfFiles = ({ env_file }: ComposeService, directory: string): Record<string, string> =>
  Object.assign({}, ...env_file.map(({ path }) => variablesIn(resolve(directory, path)) ?? {}))

/** Where secrets and configs are mounted if nothing else is said. */
const givenAt = { secrets: '/run/secrets/', configs: '/' } as const

const givenTo = (service: ComposeService, content: ComposeFile['content'], directory: string): string[] =>
  (['secrets', 'configs'] as const).flatMap(kind =>
    service[kind].map(({ source, target = source }) => {
      const place = target.startsWith('/') ? target : `${givenAt[kind]}${target}`
      return `${resolve(directory, content[kind][source]!.file)}:${place}:ro`
    }),
  )

/** Sorted so that each service comes after those on which it depends. */
const inOrder = (services: Services): string[] => {
  const ordered = new Set<string>()
  const add = (name: string) => {
    if (ordered.has(name)) return
    for (const other of Object.keys(services[name]!.depends_on)) add(other)
    ordered.add(name)
  }
  for (const name of Object.keys(services)) add(name)
  return [...ordered]
}

const eachService = (
  { content, problem }: ComposeFile,
  problemsOf: (service: ComposeService, name: string, at: (place: FieldPath, message: string) => string) => string[],
): string[] =>
  Object.entries(content.services).flatMap(([name, service]) =>
    problemsOf(service, name, (place, message) => problem(['services', name, ...place], message)),
  )

const imageProblems = (file: ComposeFile) =>
  eachService(file, ({ image, build }, _, at) => {
    if (image !== undefined || build !== undefined) return []
    return [at(['image'], 'expected the name of an image, or build')]
  })

const givenProblems = (file: ComposeFile) =>
  eachService(file, (service, _, at) =>
    (['secrets', 'configs'] as const).flatMap(kind =>
      service[kind].flatMap(({ source }, index) =>
        Object.hasOwn(file.content[kind], source)
          ? []
          : [at([kind, index], `expected one of the file’s ${kind}, found none named ${source}`)],
      ),
    ),
  )

const variablesProblems = (file: ComposeFile, directory: string) =>
  eachService(file, ({ env_file }, _, at) =>
    env_file.flatMap(({ path, required }) =>
      required && variablesIn(resolve(directory, path)) === undefined
        ? [at(['env_file'], `expected a file of variables, found no ${path}`)]
        : [],
    ),
  )

const dependencyProblems = (file: ComposeFile) => {
  const { services } = file.content
  return eachService(file, ({ depends_on }, name, at) =>
    Object.entries(depends_on).flatMap(([other, { condition }]) => {
      const place = ['depends_on', other]
      if (!Object.hasOwn(services, other)) return [at(place, `expected a service, found none named ${other}`)]
      if (reaches(services, other, name)) return [at(place, `expected no circle, but ${other} depends on ${name}`)]
      if (condition === 'service_healthy' && services[other]!.healthcheck?.test === undefined)
        return [at(place, `expected ${other} to have a healthcheck.test`)]
      return []
    }),
  )
}

const reaches = (services: Services, from: string, to: string, seen = new Set<string>()): boolean => {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return Object.keys(services[from]?.depends_on ?? {}).some(next => reaches(services, next, to, seen))
}

/**
 * Ports are not published here. But if two services publish the same port, they could not run together, so the file is
 * wrong.
 */
const portProblems = (file: ComposeFile) => {
  const publishers = new Map<string, string>()
  return eachService(file, (service, name, at) =>
    service.ports.flatMap(({ published }, index) => {
      if (published === undefined || published.includes('-')) return []
      const count = countOf(service)
      if (count > 1)
        return [at(['ports', index], `expected no published port of ${count} containers: one alone has ${published}`)]
      const other = publishers.get(published)
      publishers.set(published, name)
      // A service may publish the same port for TCP and UDP.
      if (other === undefined || other === name) return []
      return [at(['ports', index], `expected a port of its own, but ${published} is published by ${other} too`)]
    }),
  )
}

const volumeProblems = (file: ComposeFile) =>
  eachService(file, (service, _, at) => {
    const named = new Set<string>()
    return service.volumes.flatMap((volume, index) => {
      const place = ['volumes', index]
      if (isBind(volume)) {
        const { source } = volume
        if (source === undefined || /^~[^/]/.test(source)) return [at(place, 'expected a path of a file or directory')]
        return []
      }
      if (!isNamed(volume)) return []
      const isTwice = named.has(volume.source)
      named.add(volume.source)
      return isTwice ? [at(place, `expected ${volume.source} at one path of a service`)] : []
    })
  })
