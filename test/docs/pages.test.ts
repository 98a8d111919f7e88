import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blocksOf, commandsOf, patternOf, proseOf, read, readersDirectory, root, run, writeBlock } from './page.ts'

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)].filter(name =>
  name.endsWith('.md'),
)

/** Pages that need what not every machine has are left to the tests of that. */
const isExecuted = (page: string) => !page.endsWith('containers.md')

describe.each(pages)('%s', page => {
  test('its links lead somewhere', () => {
    const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)].map(([, path]) => path!)
    expect(links.filter(path => !existsSync(join(root, dirname(page), path)))).toEqual([])
  })

  test('all of its code is a file or commands, and each of them is executed', { timeout: 300_000 }, async () => {
    const blocks = blocksOf(read(page))
    expect(blocks.filter(({ language, file }) => language !== 'console' && file === undefined)).toEqual([])
    // An indented block would not be looked at.
    expect(proseOf(read(page))).not.toMatch(/\n\n {4}\S/)
    if (!isExecuted(page)) return
    const { directory, remove } = readersDirectory()
    onTestFinished(remove)
    for (const block of blocks) {
      if (block.language !== 'console') {
        writeBlock(directory, block)
        continue
      }
      const commands = commandsOf(block)
      const printed = await run(directory, commands)
      for (const [index, { line, expected }] of commands.entries())
        expect(`$ ${line}\n${printed[index]}\n`).toMatch(
          patternOf(`$ ${line}${expected === '' ? '' : `\n${expected}`}`),
        )
    }
  })
})

test('README is no longer than a reader reads', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(121)
})
