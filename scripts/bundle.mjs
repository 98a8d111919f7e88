// Joins the modules of this package into few files, because Node.js takes half a millisecond to load each of four hundred.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const outdir = join(root, 'dist/bundle')

const { outputFiles } = await build({
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
  write: false,
})

// Commands may start meanwhile: at each moment all files of a bundle are there.
mkdirSync(outdir, { recursive: true })
for (const { path, contents } of outputFiles) {
  writeFileSync(`${path}.new`, contents)
  renameSync(`${path}.new`, path)
}
const written = new Set(outputFiles.map(({ path }) => basename(path)))
for (const name of readdirSync(outdir)) if (!written.has(name)) rmSync(join(outdir, name))
