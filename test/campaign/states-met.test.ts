import { expect, test } from 'vitest'
import { StatesMet } from '../../cli/campaign/states-met.ts'

test('states are counted once for each system, up to a limit; that some were left out is said', () => {
  const states = new StatesMet(3)
  for (const [system, fingerprint] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '1'],
    ['a', '1'],
  ] as const)
    states.add(system, fingerprint)
  expect([states.count, states.note]).toEqual([3, undefined])
  states.add('b', '2')
  expect([states.count, states.note]).toEqual([3, 'more than 3 states were met: later ones are not counted'])
})
