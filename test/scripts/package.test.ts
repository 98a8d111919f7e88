import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const npm = (directory: string, ...args: readonly string[]) =>
  execa('npm', args, { cwd: join(root, directory), reject: false })

test.each(['.', 'examples/liferaft', 'examples/node-discover'])(
  'npm ci accepts the lock file of %s, on any platform',
  async directory => {
    const { exitCode, stderr } = await npm(directory, 'ci', '--dry-run', '--offline', '--no-audit')
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.not.stringContaining('EUSAGE') })
  },
)

test('the package has the command, commented types, examples and documentation, and nothing that was installed', async () => {
  const { stdout } = await npm('.', 'pack', '--dry-run', '--json', '--ignore-scripts')
  const packed: unknown = JSON.parse(stdout)
  // npm 11 prints an object by name, earlier ones a list.
  const [{ files }] = Object.values(packed as object) as [{ files: { path: string }[] }]
  const paths = files.map(({ path }) => path)
  expect(paths).toEqual(
    expect.arrayContaining([
      ...['bin/lastnail.js', 'dist/bundle/index.js', 'dist/index.d.ts', 'dist/harness/config/definition.d.ts'],
      ...['examples/liferaft/lastnail.config.ts', 'README.md'],
    ]),
  )
  expect(paths.filter(path => /node_modules|\/site\/|\.lastnail|^test\//.test(path))).toEqual([])
})
