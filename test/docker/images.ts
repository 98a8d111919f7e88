import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import type Docker from 'dockerode'

/** Makes an image of files of this machine, without any registry. */
export const importImage = async (
  docker: Docker,
  name: string,
  { files = [], texts = {}, changes = [] }: ImageParts,
): Promise<void> => {
  const root = mkdtempSync(join(tmpdir(), 'lastnail-image-'))
  try {
    for (const path of files) cpSync(realpathSync(path), inside(root, path))
    for (const [path, text] of Object.entries(texts)) writeFileSync(inside(root, path), text)
    mkdirSync(join(root, 'tmp'), { mode: 0o1777, recursive: true })
    const archive = execFileSync('tar', ['-c', '-C', root, '.'], { maxBuffer: 1 << 30 })
    const done = await docker.importImage(Readable.from([archive]), { repo: name, tag: 'latest', changes })
    await new Promise((resolve, reject) =>
      docker.modem.followProgress(done, error => (error ? reject(error) : resolve(0))),
    )
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

interface ImageParts {
  /** Copied to where they are here. */
  readonly files?: readonly string[]
  readonly texts?: Readonly<Record<string, string>>
  /** Lines of a Dockerfile. */
  readonly changes?: readonly string[]
}

const inside = (root: string, path: string): string => {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  return join(root, path)
}

/** A program of this machine with the libraries that it loads, found as it finds them here. */
export const programFiles = (program: string): string[] => {
  const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).match(/\/\S+/g) ?? []
  return [program, '/etc/ld.so.cache', ...libraries]
}

/** Node.js at the same path as here, with users, and an OpenSSL that is set up as here: it draws the same random numbers. */
export const importNode = (docker: Docker, name: string): Promise<void> =>
  importImage(docker, name, {
    files: [...programFiles(process.execPath), '/etc/ssl/openssl.cnf'],
    texts: { '/etc/passwd': 'root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::/:/bin/sh\n' },
    changes: [`ENV PATH=${dirname(process.execPath)}:/bin`, 'CMD ["node"]'],
  })
