import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkOptions } from '../../../cli/command/check-options.ts'
import { check } from '../../../cli/library.ts'
import { lastnail } from '../lastnail.ts'

const flagOf = (flags: string) => flags.split(' ')[0]!

test('the command, its help, its documentation and the library have the same options', async () => {
  const { stdout: help } = await lastnail(import.meta.dirname, 'check', '--help')
  const documented = readFileSync(join(import.meta.dirname, '../../../docs/commands.md'), 'utf8')
  for (const { flags, says } of Object.values(checkOptions)) {
    expect(help.replaceAll(/\s+/g, ' ')).toContain(`${flags} ${says}`)
    expect(documented).toContain(flagOf(flags))
  }
})

test('an option that a program gives and that there is not is wrong usage, with the one that was meant', async () => {
  const misspelt = { excutions: 5 } as object
  await expect(check('any.config.ts', misspelt)).rejects.toThrow(
    'no option "excutions" of a check: did you mean "executions"?',
  )
})
