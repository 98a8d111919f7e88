import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa, type Options } from 'execa'

const fixtures = join(import.meta.dirname, 'fixtures')
export const command = join(import.meta.dirname, '../../bin/lastnail.js')

/** A copy of the fixtures, to be changed and written to; the caller removes it. */
export const copyOfFixtures = (files: Readonly<Record<string, string>> = {}) => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-cli-'))
  cpSync(fixtures, directory, { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content)
  return { directory, remove: () => rmSync(directory, { recursive: true, force: true }) }
}

/** Starts the built command as its users do: in a process of its own. */
export const start = (directory: string, args: readonly string[], options: Options = {}) =>
  execa(process.execPath, [command, ...args], { ...options, cwd: directory, reject: false })

/** Runs the command to its end. On a busy machine the command also reports the load: that is not in its output here. */
export const lastnail = async (directory: string, ...args: readonly string[]) => {
  const { exitCode, stdout, stderr } = await start(directory, args)
  return { code: exitCode, stdout: withoutLoad(String(stdout)), stderr: withoutLoad(String(stderr)) }
}

const withoutLoad = (output: string): string =>
  output
    .replace(/^lastnail: something else uses CPU .*\n?/gm, '')
    .replace(/^note: other programs used CPU .*\n/gm, '')
    .replace(/"other programs used CPU [^"]*",|,?"other programs used CPU [^"]*"/g, '')
