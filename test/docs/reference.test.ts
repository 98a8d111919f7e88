import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { happenings } from '../../checker/happening/happenings.ts'
import { kinds } from '../../checker/happening/kinds.ts'
import { program } from '../../cli/main.ts'
import { ignoredFields, refusedFields, usedFields } from '../../docker/compose/fields.ts'
import { configuredFaults } from '../../harness/config/schema.ts'
import { composePage, definitionPath, fieldsPage, formatted, kindsPage, optionsPage } from '../../scripts/reference.mjs'
import { root } from './page.ts'

const page = (path: string) => readFileSync(join(root, path), 'utf8')

test('the page of all fields is what the types say (npm run reference)', () => {
  const fields = fieldsPage(readFileSync(definitionPath, 'utf8'))
  expect(page('docs/fields.md')).toBe(formatted('docs/fields.md', fields))
  expect(fields).toContain('- `stepLimit?: number`: CPU time in milliseconds')
})

test('the page of all options is what the help says (npm run reference)', () => {
  const options = optionsPage(program(() => {}))
  expect(page('docs/options.md')).toBe(formatted('docs/options.md', options))
  expect(options).toContain('## lastnail check\n')
})

test('the page of all kinds of steps is what the tables say, and every fault is among those of a configuration', () => {
  const fieldsOfServices = composePage(usedFields, ignoredFields, refusedFields)
  expect(page('docs/compose-fields.md')).toBe(formatted('docs/compose-fields.md', fieldsOfServices))
  expect(page('docs/kinds.md')).toBe(formatted('docs/kinds.md', kindsPage(kinds, happenings)))
  expect(page('docs/configuration.md')).toContain(`\`faults: { ${configuredFaults.join(', ')} }\``)
})

test('every command is on the page of commands', () => {
  const named = page('docs/commands.md')
  const commands = program(() => {}).commands.map(command => command.name())
  expect(commands.filter(name => !named.includes(`lastnail ${name}`))).toEqual([])
})
