import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerCreateOptions, HostConfig } from 'dockerode'
import { parse, parseAllDocuments } from 'yaml'
import { interpolate } from '../../docker/compose/interpolate.ts'

const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../../docker/campaign', name), 'utf8')

export const password = 'secret'
/** Where the configuration is on this machine, and where the results go. */
interface Directories {
  readonly work: string
  readonly results: string
}

/** The containers of a campaign, as a file names them. */
export interface Containers {
  readonly redis: ContainerCreateOptions
  readonly worker: ContainerCreateOptions
  readonly campaign: ContainerCreateOptions
}

interface Service {
  readonly image: string
  readonly command: readonly string[]
  readonly entrypoint?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly volumes: readonly string[]
  readonly cap_add?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly devices?: readonly string[]
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly shm_size?: string
}

/** What `docker compose` asks of the engine for these services. */
export const composed = ({ work }: Directories): Containers => {
  const file = parse(textOf('compose.yaml'), { merge: true })
  const { services } = JSON.parse(JSON.stringify(file), (_, value) =>
    typeof value === 'string' ? interpolate(value, { REDIS_PASSWORD: password }) : value,
  ) as { services: Record<keyof Containers, Service> }
  return mapped(services, service => {
    const options = service.security_opt ?? []
    const isUnmasked = options.includes('systempaths=unconfined')
    return {
      Image: service.image,
      Cmd: [...service.command],
      ...(service.entrypoint && { Entrypoint: [...service.entrypoint] }),
      Env: environment(service.environment ?? {}),
      ...(service.healthcheck && { Healthcheck: { Test: [...service.healthcheck.test], Interval: 500_000_000 } }),
      HostConfig: {
        CapAdd: [...(service.cap_add ?? [])],
        SecurityOpt: options.filter(each => each !== 'systempaths=unconfined'),
        ...(isUnmasked && { MaskedPaths: [], ReadonlyPaths: [] }),
        Devices: (service.devices ?? []).map(each => {
          const [outside, inside] = each.split(':')
          return { PathOnHost: outside!, PathInContainer: inside!, CgroupPermissions: 'rwm' }
        }),
        ...(service.shm_size && { ShmSize: bytesOf(service.shm_size) }),
        Binds: service.volumes.filter(each => each.startsWith('.')).map(each => each.replace('.', work)),
      } satisfies HostConfig,
    }
  })
}

interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly workingDir?: string
  readonly env: readonly { readonly name: string }[]
  readonly securityContext?: { readonly privileged: boolean; readonly runAsUser: number }
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly readinessProbe?: { readonly exec: { readonly command: readonly string[] } }
}

interface Volume {
  readonly name: string
  readonly emptyDir?: { readonly medium: string; readonly sizeLimit: string }
}

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly template: {
      readonly spec: { readonly containers: readonly [Container]; readonly volumes?: readonly Volume[] }
    }
  }
}

/**
 * Some of the rights of a privileged container. It has all capabilities and devices, and a machine that is a container
 * itself often cannot give all of them.
 */
const privileged = {
  CapAdd: ['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_NICE'],
  SecurityOpt: ['seccomp=unconfined', 'apparmor=unconfined'],
  MaskedPaths: [],
  ReadonlyPaths: [],
  Devices: [{ PathOnHost: '/dev/net/tun', PathInContainer: '/dev/net/tun', CgroupPermissions: 'rwm' }],
} satisfies HostConfig

/** What a kubelet asks of its engine for the pods of these manifests. Their image is `lastnail` with the configuration. */
export const orchestrated = ({ work, results }: Directories): Containers => {
  const manifests = parseAllDocuments(textOf('kubernetes.yaml')).map(each => each.toJS() as Manifest)
  const named = (kind: string, name: string) =>
    manifests.find(each => each.kind === kind && each.metadata.name === name)!.spec.template.spec
  const pods = {
    redis: named('StatefulSet', 'redis'),
    worker: named('StatefulSet', 'worker'),
    campaign: named('Job', 'campaign'),
  }
  return mapped(pods, ({ containers: [container], volumes = [] }) => {
    const { command, args = [], securityContext, readinessProbe } = container
    const isOurs = container.image === 'your-service-checked'
    const inMemory = volumes.filter(({ emptyDir }) => emptyDir?.medium === 'Memory')
    return {
      Image: isOurs ? 'lastnail' : container.image,
      ...(command && { Entrypoint: [...command] }),
      // Kubernetes replaces $(NAME) in arguments. Only a shell replaces $NAME.
      Cmd: args.map(each => each.replaceAll('$(REDIS_PASSWORD)', password)),
      ...(container.workingDir && { WorkingDir: container.workingDir }),
      // The only variable is the password, from the secret.
      Env: environment(Object.fromEntries(container.env.map(({ name }) => [name, password]))),
      ...(securityContext && { User: String(securityContext.runAsUser) }),
      ...(readinessProbe && { Healthcheck: { Test: ['CMD', ...readinessProbe.exec.command], Interval: 500_000_000 } }),
      HostConfig: {
        ...(securityContext?.privileged && privileged),
        Tmpfs: Object.fromEntries(
          container.volumeMounts.flatMap(({ name, mountPath }) => {
            const volume = inMemory.find(each => each.name === name)
            return volume ? [[mountPath, `exec,size=${bytesOf(volume.emptyDir!.sizeLimit)}`]] : []
          }),
        ),
        Binds: [
          ...(isOurs ? [`${work}:/work`] : []),
          ...container.volumeMounts.flatMap(({ mountPath }) =>
            mountPath === '/results' ? [`${results}:/results`] : [],
          ),
        ],
      } satisfies HostConfig,
    }
  })
}

const mapped = <Of>(
  all: Readonly<Record<keyof Containers, Of>>,
  options: (of: Of) => ContainerCreateOptions,
): Containers => ({
  redis: options(all.redis),
  worker: options(all.worker),
  campaign: options(all.campaign),
})

const environment = (variables: Readonly<Record<string, string>>) =>
  Object.entries(variables).map(([name, value]) => `${name}=${value}`)

const units = { gb: 2 ** 30, Gi: 2 ** 30 } as const
const bytesOf = (size: string): number =>
  Number.parseInt(size, 10) * units[size.replace(/^\d+/, '') as keyof typeof units]
