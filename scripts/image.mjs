// Builds the image of the tool from what was built: `npm run image`, or `npm run image -- --build-arg BASE=…` and what else docker build takes.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const context = mkdtempSync(join(tmpdir(), 'lastnail-image-'))
const run = (program, args, cwd) => execFileSync(program, args, { cwd, stdio: ['ignore', 2, 2] })

try {
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', context], root)
  run('sh', ['-c', 'tar -xzf lastnail-*.tgz && rm lastnail-*.tgz'], context)
  // Versions as they were tried.
  cpSync(join(root, 'package-lock.json'), join(context, 'package/package-lock.json'))
  run(
    'npm',
    ['install', '--omit=dev', '--omit=peer', '--no-audit', '--no-fund', '--loglevel=error'],
    join(context, 'package'),
  )
  cpSync(join(root, 'docker/Dockerfile'), join(context, 'Dockerfile'))
  run('docker', ['build', '--tag', 'lastnail', ...process.argv.slice(2), '.'], context)
} finally {
  rmSync(context, { recursive: true, force: true })
}
