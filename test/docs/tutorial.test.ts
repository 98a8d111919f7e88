import { describe, expect, onTestFinished, test } from 'vitest'
import { withTabs } from '../../.vitepress/tabs.mts'
import { has } from '../has.ts'
import { describePages } from './describe-pages.ts'
import { blocksOf, read, readersDirectory, run, writeBlock } from './page.ts'

describePages(['docs/tutorial.md'])

describe.each([
  ['Python', 'py', ':'],
  ['Go', 'go', 'go build stock.go && go build shop.go'],
] as const)('docs/tutorial.md in %s', (language, extension, build) => {
  test.skipIf(language === 'Go' && !has('go'))('finds the mistakes (needs go)', { timeout: 200_000 }, async () => {
    const blocks = blocksOf(read('docs/tutorial.md'))
    const [stock, shop, ...fixed] = blocks.filter(block => block.language === extension)
    const [first, second] = blocks
      .filter(({ file }) => file === 'lastnail.config.ts')
      .map(({ text, ...block }) => {
        const command = new RegExp(`In ${language}: (\\[.*?\\])\\.`).exec(text)![1]!
        return { ...block, text: text.replace(/=> \['node', .*\]/, `=> ${command}`) }
      })
    const { directory, remove } = readersDirectory()
    onTestFinished(remove)
    const runOne = async (line: string) => (await run(directory, [{ line: `${build} && ${line}`, expected: '' }]))[0]!
    for (const block of [stock!, shop!, first!]) writeBlock(directory, block)
    expect(await runOne('npx lastnail check --executions 100')).toContain('\nviolated: safety neverOversold\n')
    writeBlock(directory, blocks.find(({ file }) => file === 'guard.config.ts')!)
    const guard = 'npx lastnail emulate guard.config.ts --seed 3 --out guarded --guard .lastnail/shops/latest/*.trace'
    expect(await runOne(guard)).toMatch(/neverOversold would not hold after .*\n(?:.*\n)*held\n/)
    const [fixedStock, fixedShop] = fixed
    writeBlock(directory, fixedStock!)
    if (language === 'Go')
      expect(await runOne(`npx lastnail try lastnail.config.ts 'client ann' 'shop1 timer +30000ms'`)).toMatch(
        /\nviolated: crash.*\n.*i\/o timeout/,
      )
    writeBlock(directory, second!)
    expect(await runOne('npx lastnail check --executions 20')).toContain('\nviolated: safety soldOnce\n')
    writeBlock(directory, fixedShop!)
    expect(`\n${await runOne('npx lastnail check --executions 20')}`).toContain('\nheld\n')
  })
})

test('the site shows programs in several languages as tabs', () => {
  const groups = withTabs(read('docs/tutorial.md')).match(/^::: code-group$[\s\S]*?^:::$/gm)!
  const titles = groups.map(group => [...group.matchAll(/^```\w+ \[(.*)\]$/gm)].map(([, title]) => title))
  const [stock, shop] = ['stock', 'shop'].map(name => [`${name}.js`, `${name}.py`, `${name}.go`])
  expect(titles).toEqual([stock, shop, stock, shop])
})
