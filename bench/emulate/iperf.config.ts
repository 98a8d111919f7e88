import { defineSystem } from 'lastnail'

/** iperf3 for ten seconds of its own clock, over the topology that the command names. */
export default defineSystem({
  name: 'iperf',
  nodes: {
    a: { command: ['iperf3', '-s', '-J', '-1'], exits: 'allowed' },
    b: {
      command: ['sh', '-c', `sleep 1; exec iperf3 -J -t 10 -c {{a.address}} ${process.env.HOW}`],
      exits: 'allowed',
    },
  },
  emulation: { for: '16s' },
})
