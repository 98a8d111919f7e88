import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { requireSuccess, setns } from '../../linux/libc.ts'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { openTun } from '../../linux/tun.ts'

const home = () => readlinkSync('/proc/thread-self/ns/net')
const descriptors = () => readdirSync('/proc/self/fd').length

test('a namespace has lo and its own way out, and a first packet is 28 bytes of header and the payload', () => {
  const namespace = NetworkNamespace.create()
  const link = openTun(namespace, '10.1.2.3')
  try {
    const show = (...args: string[]) =>
      namespace.run(() => execFileSync('ip', args, { encoding: 'utf8' })).replace(/\s+$/gm, '')
    const hasSix = existsSync('/proc/net/if_inet6')
    const addresses = [
      'inet 127.0.0.1/8',
      ...(hasSix ? ['inet6 ::1/128'] : []),
      'inet 10.1.2.3/32',
      ...(hasSix ? ['inet6 fd77::a01:203/128'] : []),
    ]
    expect(show('-o', 'addr', 'show').match(/inet6? \S+/g)).toEqual(addresses)
    expect(show('route')).toBe('default dev eth0 proto static scope link rto_min lock 60s quickack 1')
    namespace.run(() =>
      execFileSync('python3', [
        '-c',
        `import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'hey', ('10.9.9.9', 53))`,
      ]),
    )
    const packet = Buffer.alloc(65_535)
    expect(link.read(packet)).toBe(31)
    expect(packet.toString('latin1', 28, 31)).toBe('hey')
    expect(link.read(packet)).toBe(0)
  } finally {
    link.close()
    namespace.close()
  }
})

test('the thread comes back, also from an error, and nothing stays open', async () => {
  // The first leaves the one that all are made from.
  NetworkNamespace.create().close()
  const before = { home: home(), descriptors: descriptors() }
  const namespace = NetworkNamespace.create()
  expect(home()).toBe(before.home)
  expect(namespace.run(home)).not.toBe(before.home)
  expect(() =>
    namespace.run(() => {
      throw new Error('inside')
    }),
  ).toThrow('inside')
  expect(home()).toBe(before.home)
  const link = openTun(namespace, '10.0.0.1')
  expect(() => openTun(namespace, '10.0.0.2')).toThrow('ioctl(TUNSETIFF): EBUSY')
  link.close()
  link.close()
  namespace.close()
  // A device is closed by another thread, and takes its time. The test runner may close some of its own meanwhile.
  while (descriptors() > before.descriptors) await sleep(1)
  expect(home()).toBe(before.home)
})

test('errors of the C library name the call and the reason', () => {
  expect(() => requireSuccess('setns', setns(-1, 0))).toThrow(
    expect.objectContaining({
      message: 'setns: EBADF (bad file descriptor)',
      code: 'EBADF',
      errno: 9,
      syscall: 'setns',
    }),
  )
})
