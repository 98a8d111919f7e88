import { existsSync } from 'node:fs'
import { cp, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lastnail } from '../cli/lastnail.ts'

const example = fileURLToPath(new URL('../../examples/pysyncobj/', import.meta.url))

/** Installs the library beside its place, and moves it there in one piece; false if PyPI or pip is out of reach. */
const install = async (): Promise<boolean> => {
  const site = join(example, 'site')
  if (existsSync(site)) return true
  const draft = await mkdtemp(join(example, '.install-'))
  try {
    const pip = ['-m', 'pip', 'install', '--no-deps', '--target', join(draft, 'site'), 'pysyncobj==0.3.17']
    const { failed } = await execa('python3', pip, { reject: false })
    if (failed) return false
    await rename(join(draft, 'site'), site).catch(error => {
      if (!existsSync(site)) throw error
    })
    return true
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

const installed = await install()

const linesStay = { property: 'linesStay', executed: 68, of: 68 }

describe.skipIf(!installed)('an entry that is not committed, and a part of a snapshot (needs pip and PyPI)', () => {
  const regress = async (directory: string) => {
    const { code, stdout } = await lastnail(directory, 'regress', '--json')
    return { code, ...JSON.parse(stdout) }
  }

  test('a member acknowledges a line that no member keeps', async () => {
    expect(await regress(example)).toMatchObject({ code: 1, schedules: [{ ...linesStay, outcome: 'fails' }] })
  })

  test('where the member waits for the last part, the same steps violate nothing', async () => {
    const mended = await mkdtemp(join(tmpdir(), 'lastnail-pysyncobj-'))
    onTestFinished(() => rm(mended, { recursive: true, force: true }))
    await cp(example, mended, { recursive: true })
    const file = join(mended, 'site/pysyncobj/syncobj.py')
    const loaded = `                    self.__loadDumpFile(clearJournal=True)
                    self.__sendNextNodeIdx(node, success=True)
`
    const parts = (await readFile(file, 'utf8')).split(loaded)
    expect(parts).toHaveLength(2)
    await writeFile(file, parts.join(`${loaded}                else:\n                    return\n`))
    expect(await regress(mended)).toMatchObject({ code: 0, schedules: [{ ...linesStay, outcome: 'passes' }] })
  })
})
