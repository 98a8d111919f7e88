#!/usr/bin/env node
import { existsSync } from 'node:fs'

const main = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(main)) {
  const { run } = await import(main.href)
  // Not left to the end of all handles: a configuration may have opened some.
  process.exit(await run(process.argv.slice(2)))
} else {
  console.error('lastnail: not built yet; run "npm run build" in its directory')
  process.exitCode = 69
}
