import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
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

/**
 * The same in this process, where it takes half of the CPU time: Node.js need not start, and its code is compiled already.
 * Not for what a command does to its own process, nor where processes shall not know of each other. Another one meanwhile
 * has a process of its own.
 */
export const here: typeof lastnail = async (directory, ...args) => {
  if (isRunning) return lastnail(directory, ...args)
  isRunning = true
  const former = process.cwd()
  const [stdout, stderr] = [captured(process.stdout), captured(process.stderr)]
  try {
    process.chdir(directory)
    const { run } = await import(pathToFileURL(join(import.meta.dirname, '../../dist/bundle/main.js')).href)
    const code: number = await run(args)
    return { code, stdout: withoutLoad(stdout.text()), stderr: withoutLoad(stderr.text()) }
  } finally {
    stdout.letGo()
    stderr.letGo()
    process.chdir(former)
    isRunning = false
  }
}

let isRunning = false

/** What is written to a stream from now on. */
const captured = (stream: NodeJS.WriteStream) => {
  const { write, isTTY } = stream
  let said = ''
  stream.isTTY = false
  stream.write = (text: string | Uint8Array, ...rest: unknown[]) => {
    said += text
    const [done] = rest.filter(each => typeof each === 'function')
    if (done) setImmediate(done as () => void)
    return true
  }
  const letGo = () => {
    stream.write = write
    stream.isTTY = isTTY
  }
  return { text: () => said.replace(/\n$/, ''), letGo }
}

const withoutLoad = (output: string): string =>
  output
    .replace(/^lastnail: something else uses CPU .*\n?/gm, '')
    .replace(/^note: other programs used CPU .*\n/gm, '')
    .replace(/"other programs used CPU [^"]*",|,?"other programs used CPU [^"]*"/g, '')

/** Without what a busy machine adds. */
export const ofQuietMachine = (notes: readonly string[]): string[] =>
  notes.filter(note => !/not to be trusted|is not known$|^other programs used CPU/.test(note))
