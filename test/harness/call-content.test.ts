import { expect, test } from 'vitest'
import { addressIn } from '../../harness/hold/call-content.ts'

test('of the address of a socket counts what the kernel looks at', () => {
  const garbage = Buffer.from('garbage')
  const path = Buffer.from('\x01\0/var/run/nscd/socket\0', 'latin1')
  expect(addressIn(Buffer.concat([path, garbage]))).toEqual(path.subarray(0, -1))
  const abstract = Buffer.from('\x01\0\0name\0more', 'latin1')
  expect(addressIn(abstract)).toEqual(abstract)
  const internet = Buffer.from([2, 0, 0, 80, 10, 77, 0, 2])
  expect(addressIn(Buffer.concat([internet, garbage]))).toEqual(internet)
  const internet6 = Buffer.concat([Buffer.from([10, 0]), Buffer.alloc(26, 7)])
  expect(addressIn(internet6)).toEqual(internet6)
  expect(addressIn(Buffer.alloc(0))).toEqual(Buffer.alloc(0))
})
