import { expect, test } from 'vitest'
import { configForPrograms } from '../../../cli/init/first-config.ts'

const program = (name: string) => ({ name, command: [name], ports: [] })

test('messages are read as what is usually spoken on their port, or as what answered HTTP there', () => {
  const config = configForPrograms('shop', [program('db'), program('cache'), program('web')], {
    ports: { db: [5432], cache: [6379, 16_379], web: [8080] },
    printed: {},
    pages: [{ node: 'web', port: 8080, path: '/', status: 200 }],
  })
  expect(config).toContain("import { always, defineSystem, eventually, frames } from 'lastnail'")
  expect(config).toContain('messages: { 5432: frames.postgres(), 6379: frames.resp(), 8080: frames.http1() },')
})

test('nothing is said of messages where nobody knows what is spoken', () => {
  const config = configForPrograms('own', [program('one')], { ports: { one: [7000] }, printed: {}, pages: [] })
  expect(config).not.toContain('messages:')
  expect(config).not.toContain('frames')
})
