import { constants } from 'node:fs'
import { expect, test } from 'vitest'
import { essential, socketAddressIn } from '../../../harness/hold/held/call-content.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'

test('of the address of a socket counts what the kernel looks at', () => {
  const garbage = Buffer.from('garbage')
  const path = Buffer.from('\x01\0/var/run/nscd/socket\0', 'latin1')
  expect(socketAddressIn(Buffer.concat([path, garbage]))).toEqual(path.subarray(0, -1))
  const abstract = Buffer.from('\x01\0\0name\0more', 'latin1')
  expect(socketAddressIn(abstract)).toEqual(abstract)
  const internet = Buffer.from([2, 0, 0, 80, 10, 77, 0, 2])
  expect(socketAddressIn(Buffer.concat([internet, garbage]))).toEqual(internet)
  const internet6 = Buffer.concat([Buffer.from([10, 0]), Buffer.alloc(26, 7)])
  expect(socketAddressIn(internet6)).toEqual(internet6)
  expect(socketAddressIn(Buffer.alloc(0))).toEqual(Buffer.alloc(0))
})

test.each(['stat', 'statx'] as const)('%s: links and size of a directory count only if nothing else differs', name => {
  const [length, modeAt, linksAt, sizeAt] = name === 'stat' ? [144, 24, 16, 48] : [256, 28, 16, 40]
  const status = (mode: number, links: number, size: number) => {
    const bytes = Buffer.alloc(length)
    bytes.writeUInt16LE(mode, modeAt)
    bytes.writeUInt16LE(links, linksAt)
    bytes.writeUInt16LE(size, sizeAt)
    return essential(syscallNumber[name], bytes)
  }
  const [directory, file] = [constants.S_IFDIR | 0o755, constants.S_IFREG | 0o644]
  expect(status(directory, 3, 80)).toEqual(status(directory, 4, 100))
  expect(status(directory, 3, 80)).not.toEqual(status(directory | 0o1000, 3, 80))
  expect(status(file, 1, 80)).not.toEqual(status(file, 1, 100))
  expect(status(file, 1, 80)).not.toEqual(status(file, 2, 80))
})
