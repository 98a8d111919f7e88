import { expect, test } from 'vitest'
import { QueueRefused } from '../../campaign/queue/error.ts'
import { redisConnectionOf, requireRedis } from '../../campaign/queue/redis.ts'

test('a password has its special characters encoded', () => {
  expect(redisConnectionOf('redis://me:100%25@host:1/2')).toMatchObject({
    password: '100%',
    host: 'host',
    port: 1,
    db: 2,
  })
})

test.each(['redis://:100%@host', 'redis://%zz:secret@host'])(
  '%s, which is wrongly encoded, is refused in one line',
  async url => {
    await expect(requireRedis(url)).rejects.toThrow(QueueRefused)
    await expect(requireRedis(url)).rejects.toThrow(/^the user or password of redis:\/\/host is not encoded for a URL/)
  },
)

test.each(['redis://me:secret@host/first', 'http://me:secret@host', 'redis://me:secret@host:port'])(
  'a refusal of %s does not show the password',
  async url => {
    await expect(requireRedis(url)).rejects.toThrow(/^expected an address such as redis:\/\/localhost:6379, found "/)
    await expect(requireRedis(url)).rejects.not.toThrow(/secret/)
  },
)
