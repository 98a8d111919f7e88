import { defineSystem } from 'lastnail'

/** A machine that fetches from another, over the topology that the command names. */
export default defineSystem({
  name: 'transfer',
  nodes: {
    a: { command: ['node', '../../../bench/service/transfer.cjs', 'serve'] },
    b: {
      command: ['node', '../../../bench/service/transfer.cjs', 'fetch', '{{a.address}}'],
      exits: 'allowed',
    },
  },
})
