#!/usr/bin/env node
import { existsSync } from 'node:fs'
import module from 'node:module'

const main = new URL('../dist/bundle/main.js', import.meta.url)
const machineLacks = 69
const notWritten = 74

const start = async () => {
  if (!existsSync(main)) throw new Error('not built yet; run "npm run build" in its directory')
  // Node.js 22 keeps compiled code in the directory for temporary files. Compiling takes a third of a start.
  module.enableCompileCache?.()
  const { run } = await import(main.href)
  return run(process.argv.slice(2))
}

/** What is wrong before the command can say it itself. */
const refuse = ({ message, stack }) => {
  const isUnbuilt = message.includes('native Koffi module')
  const hint =
    'koffi, which calls the C library, is not built for this machine; run "npm rebuild koffi --foreground-scripts"'
  console.error(`lastnail: ${isUnbuilt ? hint : message.startsWith('not built') ? message : stack}`)
  return machineLacks
}

let problem
process.stdout.on('error', error => {
  problem ??= error
})
process.stderr.on('error', () => {})

/** What was written to a pipe is not read yet. */
const flush = stream => new Promise(done => stream.write('', done))

const code = await start().catch(refuse)
await flush(process.stdout)
if (problem) process.stderr.write(`lastnail: cannot write to stdout: ${problem.message}\n`)
await flush(process.stderr)
// Not left to the end of all handles: a configuration may have opened some. A verdict counts, whoever heard it.
process.exit(code === 0 && problem ? notWritten : code)
