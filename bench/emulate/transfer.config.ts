import { defineSystem } from 'lastnail'

/** A machine that fetches from another, over the topology that the command names. */
export default defineSystem({
  name: 'transfer',
  nodes: {
    server: { command: ['node', '../../../bench/service/transfer.cjs', 'serve'] },
    client: {
      command: ['node', '../../../bench/service/transfer.cjs', 'fetch', '{{server.address}}'],
      exits: 'allowed',
    },
  },
})
