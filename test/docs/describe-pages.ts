import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { blocksOf, commandsOf, patternOf, proseOf, read, readersDirectory, root, run, writeBlock } from './page.ts'

/** Pages that need what not every machine has are left to the tests of that. */
const isExecuted = (page: string) => !page.endsWith('containers.md')

/** The tests of pages. The tutorial has a file of its own, so that the two run beside each other. */
export const describePages = (pages: readonly string[]): void =>
  describe.each(pages)('%s', page => {
    test(`the links of ${page} lead somewhere`, () => {
      const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)(#[^)]*)?\)/g)].map(([, path]) => path!)
      expect(links.filter(path => !existsSync(join(root, dirname(page), path)))).toEqual([])
    })

    test(`all code of ${page} is a file or commands, and each of them is executed`, { timeout: 300_000 }, async () => {
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
        const printed = await run(directory, commands, page === 'README.md')
        for (const [index, { line, expected }] of commands.entries())
          expect(`$ ${line}\n${printed[index]}\n`).toMatch(
            patternOf(`$ ${line}${expected === '' ? '' : `\n${expected}`}`),
          )
      }
    })
  })
