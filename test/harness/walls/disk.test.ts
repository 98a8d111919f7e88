import { chmodSync, chownSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Disk } from '../../../harness/files/disk.ts'
import { Output } from '../../../harness/files/output.ts'
import { Periods } from '../../../harness/hold/clock/periods.ts'
import { libc, requireSuccess } from '../../../linux/libc.ts'
import { directoryWith } from '../system.ts'

const mknod = libc.func('int mknod(const char *path, unsigned int mode, unsigned long device)')
const characterDevice = 0o020000
const isRoot = process.getuid!() === 0

/** All files were written at one instant of the node's clock. */
const periods = new Periods()
periods.begin(0)

/** The hash of a disk on which something was done. */
const hashAfter = (change: (at: (path: string) => string) => void): string => {
  const disk = new Disk(join(directoryWith({}), 'disk'), ['/one', '/other'])
  const [one] = disk.layers
  chmodSync(one!.upper, 0o755)
  change(path => join(one!.upper, path))
  const hash = disk.hash(periods)
  expect(disk.copy(`${disk.directory}-copy`).hash(periods)).toBe(hash)
  return hash
}

const changes: Readonly<Record<string, (at: (path: string) => string) => void>> = {
  nothing: () => {},
  'an empty file': at => writeFileSync(at('x'), ''),
  'a directory': at => mkdirSync(at('x')),
  'a whiteout': at => requireSuccess('mknod', mknod(at('x'), characterDevice, 0)),
  'a link to nothing': at => symlinkSync('y', at('x')),
  'a file': at => writeFileSync(at('x'), 'y'),
  'another mode': at => writeFileSync(at('x'), '', { mode: 0o600 }),
  'another owner': at => {
    writeFileSync(at('x'), '')
    if (isRoot) chownSync(at('x'), 7, 0)
  },
  'two files': at => {
    writeFileSync(at('x'), '')
    writeFileSync(at('y'), '')
  },
  'one with the name of the other in it': at => writeFileSync(at('x'), 'y\0'),
  'a mode of all': at => chmodSync(at(''), 0o700),
}

test.skipIf(!isRoot)(
  'disks that differ in anything have different hashes, and a copy has the same (needs root)',
  () => {
    const hashes = new Map(Object.entries(changes).map(([name, change]) => [hashAfter(change), name]))
    expect([...hashes.values()]).toEqual(Object.keys(changes))
  },
)

test('the layer of another directory is another disk', () => {
  const hashOf = (layer: number) => {
    const disk = new Disk(join(directoryWith({}), 'disk'), ['/one', '/other'])
    for (const { upper } of disk.layers) chmodSync(upper, 0o755)
    writeFileSync(join(disk.layers[layer]!.upper, 'x'), '')
    return disk.hash(periods)
  }
  expect(hashOf(0)).not.toBe(hashOf(1))
})

test('only its owner reads what a node has written to its outputs', () => {
  const path = join(directoryWith({}), 'stdout')
  const output = new Output(path)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  output.close()
  rmSync(path)
})
