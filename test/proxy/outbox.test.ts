import { expect, test } from 'vitest'
import { Outbox, type Outgoing } from '../../proxy/outbox.ts'

const outbox = () => {
  const written: string[] = []
  const packet = (name: string, about: Omit<Outgoing, 'write'> = {}): Outgoing => ({
    ...about,
    write: () => written.push(name),
  })
  return { box: new Outbox(), written, packet }
}

test('one packet enters a node that rests, and each other when it rests again', () => {
  const { box, written, packet } = outbox()
  for (const name of ['first', 'second', 'third']) box.send(packet(name))
  expect(written).toEqual(['first'])
  expect(box.isRestless).toBe(true)
  expect(box.sendNext()).toBe(true)
  expect(written).toEqual(['first', 'second'])
  expect(box.sendNext()).toBe(true)
  expect(box.sendNext()).toBe(false)
  expect(written).toEqual(['first', 'second', 'third'])
  box.rest()
  expect(box.isRestless).toBe(false)
  box.send(packet('fourth'))
  expect(written.at(-1)).toBe('fourth')
})

test('an acknowledgement replaces the one of its connection that waits, unless something else follows that', () => {
  const { box, written, packet } = outbox()
  const acknowledgement = { connection: 1, isAcknowledgement: true }
  box.send(packet('first'))
  box.send(packet('acknowledges 1', acknowledgement))
  box.send(packet('of another', { connection: 2, isAcknowledgement: true }))
  box.send(packet('acknowledges 2', acknowledgement))
  box.send(packet('data', { connection: 1 }))
  box.send(packet('acknowledges 3', acknowledgement))
  while (box.sendNext());
  expect(written).toEqual(['first', 'acknowledges 2', 'of another', 'data', 'acknowledges 3'])
})

test('nothing waits for another kernel', () => {
  const { box, written, packet } = outbox()
  box.send(packet('first'))
  box.send(packet('second'))
  box.clear()
  expect(box.sendNext()).toBe(false)
  box.send(packet('third'))
  expect(written).toEqual(['first', 'third'])
})

test('a node that is stopped between two messages of a connection gets the segments of the first one before the second', () => {
  const { box, written, packet } = outbox()
  box.send(packet('first', { connection: 1 }))
  box.send(packet('its second segment', { connection: 1 }))
  box.rest()
  box.send(packet('second', { connection: 1 }))
  box.send(packet('of another', { connection: 2 }))
  while (box.sendNext());
  expect(written).toEqual(['first', 'of another', 'its second segment', 'second'])
})
