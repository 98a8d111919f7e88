// Joins the modules of this package into few files, because Node.js takes half a millisecond to load each of four hundred.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const outdir = join(root, 'dist/bundle')

/** Packages of many modules that nearly every command loads. */
const joined = ['zod', 'p-queue', 'pure-rand', 'flatqueue']
const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const external = Object.keys({ ...dependencies, ...peerDependencies }).filter(name => !joined.includes(name))

const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  // What is imported by others, or begins a process or thread.
  entryPoints: [
    'index.ts',
    'vitest.ts',
    'cli/main.ts',
    'cli/workers/worker.ts',
    'cli/emulate/follower.ts',
    'proxy/forwarding/thread.ts',
  ],
  entryNames: '[name]',
  outdir,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external,
  metafile: true,
  // Whether an error is of a configuration or of the tool depends on the module that threw it.
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  write: false,
})

/** The licenses of the packages that became part of the bundle. */
const licenses = () => {
  const directories = Object.keys(metafile.inputs).flatMap(
    path => path.match(/.*node_modules\/(@[^/]+\/)?[^/]+/)?.[0] ?? [],
  )
  return [...new Set(directories)].map(directory => {
    const file = readdirSync(join(root, directory)).find(name => /^licen[cs]e/i.test(name))
    return `${directory}\n\n${readFileSync(join(root, directory, file), 'utf8')}`
  })
}

const files = [...outputFiles, { path: join(outdir, 'LICENSES'), contents: licenses().join('\n') }]

// Commands may start meanwhile: at each moment all files of a bundle are there.
mkdirSync(outdir, { recursive: true })
for (const { path, contents } of files) {
  writeFileSync(`${path}.new`, contents)
  renameSync(`${path}.new`, path)
}
const written = new Set(files.map(({ path }) => basename(path)))
for (const name of readdirSync(outdir)) if (!written.has(name)) rmSync(join(outdir, name))
