import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { describePages } from './describe-pages.ts'
import { read, root } from './page.ts'

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map(name => `docs/${name}`)].filter(name =>
  name.endsWith('.md'),
)

describePages(pages.filter(page => page !== 'docs/tutorial.md'))

test('README is no longer than a reader reads', () => {
  expect(read('README.md').split('\n').length).toBeLessThanOrEqual(121)
})
