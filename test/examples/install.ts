import { existsSync } from 'node:fs'
import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execa } from 'execa'

/**
 * Installs what an example's lock file names, unless that was done before. It is put together beside its place and
 * moved there in one piece, so that two test runs at once do not disturb each other.
 */
export const install = async (example: string): Promise<void> => {
  const installed = join(example, 'node_modules')
  if (existsSync(installed)) return
  const draft = await mkdtemp(join(dirname(example), '.install-'))
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc']) await cp(join(example, file), join(draft, file))
    await execa('npm', ['ci', '--no-audit', '--no-fund'], { cwd: draft })
    await rename(join(draft, 'node_modules'), installed).catch(error => {
      if (!existsSync(installed)) throw error
    })
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}
