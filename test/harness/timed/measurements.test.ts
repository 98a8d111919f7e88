import { expect, test } from 'vitest'
import { always, eventually } from '../../../checker/system/property.ts'
import { stateOf } from '../../../harness/clients/state.ts'
import type { GlobalState } from '../../../harness/config/config.ts'
import type { Look } from '../../../harness/timed/look.ts'
import { type Happened, Measurements } from '../../../harness/timed/measurements.ts'

const output = { stdout: '', stderr: '' }
const look = (...values: (number | undefined)[]): Look => ({
  state: stateOf(
    values.map((state, index) => ({ name: `n${index + 1}`, alive: state !== undefined, state, output })),
    [],
    [],
  ),
  outputs: [],
  stillMs: 0,
  unseen: [],
})
const values = (state: GlobalState) => state.nodes.flatMap(node => node.state ?? [])
const properties = {
  positive: always((state: GlobalState) => values(state).every(value => value > 0)),
  someBig: {
    ...eventually((state: GlobalState) => values(state).some(value => value > 9)),
    explain: () => 'all small',
  },
}
const fault = (atMs: number, node?: string): Happened => ({
  atMs,
  kind: 'fault',
  label: 'a fault',
  node,
  step: 'crash',
  isCrash: false,
})

test('outages last from the first look without a property to the next with it', () => {
  const measured = new Measurements({ properties, observe: undefined }, undefined)
  const seen = [look(10), look(1), look(1), look(10), look(-1)]
  expect(seen.map((each, index) => measured.looked(each, 100 * index))).toEqual([
    { positive: true, someBig: true },
    { positive: true, someBig: false },
    { positive: true, someBig: false },
    { positive: true, someBig: true },
    { positive: false, someBig: false },
  ])
  expect(measured.properties).toEqual([
    {
      name: 'positive',
      kind: 'always',
      againMs: [],
      looksWithout: 1,
      outages: [{ fromMs: 400, untilMs: undefined, message: '' }],
    },
    {
      name: 'someBig',
      kind: 'eventually',
      againMs: [200],
      looksWithout: 3,
      outages: [
        { fromMs: 100, untilMs: 300, message: 'all small' },
        { fromMs: 400, untilMs: undefined, message: 'all small' },
      ],
    },
  ])
})

test('a fault is recovered from when all properties hold for good', () => {
  const measured = new Measurements({ properties, observe: undefined }, undefined)
  measured.looked(look(10), 0)
  measured.happened(fault(50))
  measured.happened(fault(70))
  measured.looked(look(1), 100)
  measured.looked(look(10), 200)
  measured.happened(fault(250))
  expect(measured.recoveries.map(({ tookMs }) => tookMs)).toEqual([150, 130, undefined])
})

test('a fault may do harm some looks later, or none; the harm of the next fault is not counted for it', () => {
  const measured = new Measurements({ properties, observe: undefined }, undefined)
  measured.happened(fault(0))
  measured.looked(look(10), 10)
  measured.looked(look(1), 20)
  measured.looked(look(10), 30)
  measured.looked(look(1), 40)
  measured.looked(look(10), 50)
  expect(measured.recoveries).toMatchObject([{ tookMs: 50 }])
  measured.happened(fault(60))
  measured.looked(look(10), 70)
  measured.happened(fault(80))
  measured.looked(look(1), 90)
  expect(measured.recoveries.map(({ tookMs }) => tookMs)).toEqual([50, 0, undefined])
  measured.happened(fault(100))
  measured.looked(look(10), 110)
  expect(measured.recoveries.map(({ tookMs }) => tookMs)).toEqual([50, 0, 30, 0])
})

test('what a join breaks is not the harm of a fault before', () => {
  const measured = new Measurements({ properties, observe: undefined }, undefined)
  measured.happened(fault(0))
  measured.looked(look(1), 10)
  measured.happened({ ...fault(20), kind: 'repair' })
  measured.looked(look(10), 30)
  measured.happened(fault(40))
  measured.looked(look(10), 50)
  measured.happened({ ...fault(60), kind: 'repair' })
  measured.looked(look(1), 70)
  measured.looked(look(10), 80)
  expect(measured.recoveries.map(({ tookMs }) => tookMs)).toEqual([30, 0])
})

test('joining takes from the start of a node until it is seen to have joined, unless it leaves before', () => {
  const measured = new Measurements({ properties: {}, observe: undefined }, node => node.state === 1)
  measured.started('n1', 0)
  measured.started('n2', 100)
  measured.looked(look(0, 0), 200)
  measured.happened(fault(250, 'n2'))
  measured.looked(look(1, 1), 300)
  measured.looked(look(1, 1), 400)
  expect(measured.joinTimes).toEqual([300])
})

test('that `state` never saw anything is said, with the last line that was printed', () => {
  const nothingIn = (looks: readonly Look[], observe: boolean, of: object = properties) => {
    const system = { properties: of as typeof properties, observe: observe ? () => undefined : undefined }
    const measured = new Measurements(system, undefined)
    for (const [index, each] of looks.entries()) measured.looked(each, index)
    return measured.observed.nothing
  }
  const blind = (stdout: string, stderr = ''): Look => ({
    ...look(),
    state: stateOf([{ name: 'n1', alive: true, state: undefined, output: { stdout, stderr } }], [], []),
  })
  const said = 'no node ever had a state: `state` observed nothing, so properties of states were not tested; '
  expect(nothingIn([blind('{a}\n{fail:1}\n', 'x')], true)).toBe(`${said}the last line that n1 printed is "{fail:1}"`)
  expect(nothingIn([blind('', 'oh\n')], true)).toBe(`${said}the last line that n1 printed is "oh"`)
  expect(nothingIn([blind('')], true)).toBe(`${said}no node has printed anything`)
  // One state is enough; without `state`, properties read something else; without a look, nothing is known.
  expect(nothingIn([blind('{a}\n'), look(1), blind('{a}\n')], true)).toBeUndefined()
  expect(nothingIn([blind('{a}\n')], false)).toBeUndefined()
  expect(nothingIn([], true)).toBeUndefined()
  expect(nothingIn([blind('{a}\n')], true, {})).toBeUndefined()
})

test('where steps are known, a node has joined at a step and not at the next look, and so has the system recovered', () => {
  const measured = new Measurements({ properties, observe: undefined }, node => node.state === 10)
  const step = (atMs: number, changed?: { name: string; holds: boolean }) => {
    if (changed) measured.changed(changed, atMs)
    measured.stepped(look(10).state.nodes, atMs)
  }
  measured.started('n1', 100)
  measured.stepped(look(1).state.nodes, 110)
  measured.stepped(look(10).state.nodes, 148)
  measured.looked(look(10), 1000, new Map([['positive', true]]))
  expect(measured.joinTimes).toEqual([48])
  measured.happened(fault(2000))
  step(2010, { name: 'positive', holds: false })
  step(2037, { name: 'positive', holds: true })
  measured.looked(look(10), 3000, new Map([['positive', true]]))
  expect(measured.recoveries).toMatchObject([{ tookMs: 37, hasHarmed: true }])
  // It harms from its own step on.
  measured.changed({ name: 'positive', holds: false }, 4000)
  measured.happened(fault(4000))
  step(4000)
  step(4005, { name: 'positive', holds: true })
  measured.looked(look(10), 5000, new Map([['positive', true]]))
  expect(measured.recoveries.at(-1)).toMatchObject({ tookMs: 5, hasHarmed: true })
})
