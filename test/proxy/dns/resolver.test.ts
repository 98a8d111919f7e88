import { expect, test } from 'vitest'
import { answerQuery, type HostOfName } from '../../../proxy/dns/resolver.ts'

/** A query for this name: number 7, recursion desired. */
const query = (name: string, type: number) =>
  Buffer.concat([
    Buffer.from('000701000001000000000000', 'hex'),
    ...name.split('.').map(label => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0, 0, type, 0, 1]),
  ])

const known = {
  mayChange: false,
  A: Buffer.from([10, 77, 0, 2]),
  AAAA: Buffer.from('fd7700000000000000000000'.concat('0a4d0002'), 'hex'),
}
const hosts: Readonly<Record<string, HostOfName>> = { 'store.local': known, primary: { ...known, mayChange: true } }
const answer = (name: string, type: number) => answerQuery(query(name, type), asked => hosts[asked])?.toString('hex')

test('a host is answered by its address of either kind, whatever the case of its name; the rest follows RFC 1035', () => {
  const question = '0553746f7265056c6f63616c00'
  expect(answer('Store.local', 1)).toBe(`000785800001000100000000${question}00010001c00c000100010000001e00040a4d0002`)
  expect(answer('Store.local', 28)).toBe(
    `000785800001000100000000${question}001c0001c00c001c00010000001e0010${known.AAAA.toString('hex')}`,
  )
  // MX: the name exists, and has none.
  expect(answer('Store.local', 15)).toBe(`000785800001000000000000${question}000f0001`)
})

test('an answer may be remembered for as long as it says, which is short if the name may mean another host', () => {
  expect(answer('primary', 1)).toBe(
    '00078580000100010000000007' + '7072696d617279000001' + '0001c00c0001000100000005' + '00040a4d0002',
  )
})

test('a name that is not known is refused, and what is no query is not answered', () => {
  expect(answer('other', 1)).toBe('000785850001000000000000056f746865720000010001')
  expect(answerQuery(Buffer.alloc(5), () => known)).toBeUndefined()
  const cut = query('store.local', 1)
  expect(answerQuery(cut.subarray(0, cut.length - 3), () => known)).toBeUndefined()
  cut[2] = 0x81
  expect(answerQuery(cut, () => known)).toBeUndefined()
})
