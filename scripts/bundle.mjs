// Joins the modules of this package into few files, because Node.js takes half a millisecond to load each of four hundred.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const outdir = join(root, 'dist/bundle')

rmSync(outdir, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  // What is imported by others, or begins a process or thread.
  entryPoints: ['index.ts', 'vitest.ts', 'cli/main.ts', 'cli/workers/worker.ts', 'proxy/forwarding/thread.ts'],
  entryNames: '[name]',
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  // Whether an error is of a configuration or of the tool depends on the module that threw it.
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
})
