/**
 * Which fields public compose files use, and in which forms: of each file the fields alone, with values made up. A value
 * `N` is a number of its own; `base` and `other` stand for the services that one depends on, `shared` and `shared2` for volumes of several.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { fromCompose } from '../../docker/compose/nodes.ts'
import { readNodes } from '../../harness/config/config.ts'

interface FieldList {
  /** Of the file in its repository. */
  readonly path: string
  /** What is said of it; empty if it is read. */
  readonly refused: readonly string[]
  /** Beside the services: of kinds of things the forms of their declarations. */
  readonly top: Readonly<Record<string, unknown>>
  /** By field of a service, the forms of its value. */
  readonly fields: Readonly<Record<string, readonly unknown[]>>
}

const lists: Readonly<Record<string, FieldList>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'public-files.json'), 'utf8'),
)

const singular = { volumes: 'volume', networks: 'net', secrets: 'secret', configs: 'config' } as const

/** A compose file in which each form of each field occurs. */
const composeOf = ({ top, fields }: FieldList) => {
  const services = Array.from(
    { length: Math.max(...Object.values(fields).map(({ length }) => length)) },
    (_, index) => `s${index}`,
  )
  const given = (index: number) =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([field, forms]) => (index in forms ? [[field, forms[index]]] : [])),
    )
  const awaited = { image: 'a', healthcheck: { test: 'a' } }
  const declared = Object.entries(top).map(([kind, forms]) => {
    if (!Array.isArray(forms)) return [kind, forms]
    const name = singular[kind as keyof typeof singular]
    return [kind, Object.fromEntries(forms.map((form, index) => [`${name}${index || ''}`, form]))]
  })
  const written = withNumbers({
    base: awaited,
    other: awaited,
    ...Object.fromEntries(services.map((name, index) => [name, { image: 'a', ...given(index) }])),
  })
  const named = [...written.matchAll(/"(own\d+|shared\d*)[":]/g)].map(([, name]) => [name, null])
  const shared = new Set(named.flatMap(([name]) => (name?.startsWith('shared') ? [`${name}:/${name}`] : [])))
  const { volumes, ...others } = Object.fromEntries(declared)
  return {
    ...others,
    ...((volumes || named.length > 0) && { volumes: { ...volumes, ...Object.fromEntries(named) } }),
    services: { ...JSON.parse(written), ...(shared.size > 0 && { sharing: { image: 'a', volumes: [...shared] } }) },
  }
}

/** Each number, and each volume of one service, is one of its own. */
const withNumbers = (services: object): string => {
  let next = 1000
  return JSON.stringify(services)
    .replaceAll('"number"', () => `${next++}`)
    .replaceAll(/(?<=")volume(?=:\/)|(?<="source":")volume(?=")/g, () => `own${next++}`)
    .replaceAll(/(?<![A-Z])N\b/g, () => `${next++}`)
}

/** Each problem once. Which services and entries have it depends on the values that were made up. */
const problemsOf = (read: () => unknown): string[] => {
  try {
    read()
    return []
  } catch (error) {
    const lines = (error as Error).message.split('\n')
    const problems = lines.map(line => line.replace(/^.*?compose\.yaml:\d+: services\.\w+\.([a-z_]+)[\w.]*/, '$1'))
    return [...new Set(problems)]
  }
}

test('fifteen files at least', () => {
  expect(Object.keys(lists).length).toBeGreaterThanOrEqual(15)
})

test.each(Object.entries(lists))('%s is read, or refused with what it would need', (_repository, list) => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-public-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'a'))
  writeFileSync(join(directory, 'a.env'), 'A=a\n')
  writeFileSync(join(directory, 'compose.yaml'), JSON.stringify(composeOf(list), null, 1))
  const read = () => fromCompose('compose.yaml', { profiles: ['*'] })[readNodes](directory)
  expect(problemsOf(read)).toEqual(list.refused)
})
