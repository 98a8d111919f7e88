import { always, defineSystem, eventually, type GlobalState, jsonLines } from 'lastnail'

const adder = { command: ['node', 'adder.js', '{{store.address}}'] }

const isDone = (state: GlobalState) => ['a', 'b'].every(name => state.node(name).state?.done)

export default defineSystem({
  name: 'adders',
  nodes: { store: { command: ['node', 'store.js'] }, a: adder, b: adder },
  state: jsonLines('stdout'),
  properties: {
    noUpdateLost: always(state => !isDone(state) || state.node('store').state.value === 2),
    neverWritten: always(state => state.node('store').state?.value !== 1),
    atMostTwo: always(state => state.node('store').state?.value !== 3),
    bothDone: eventually(isDone),
  },
  faults: { drop: 1 },
})
