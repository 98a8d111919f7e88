import { always, defineSystem, type NodeHandle } from 'lastnail'
import { talk } from './talk.ts'

const ask = async (node: NodeHandle, command: string, end: RegExp): Promise<string> =>
  (await talk(node, 11300, `${command}\r\n`, heard => end.test(heard.toString()))).toString()

/** One queue with a log on its disk, and jobs that are put off or taken for a second. */
export default defineSystem({
  name: 'beanstalkd',
  nodes: { queue: { command: ['beanstalkd', '-b', '.'], listens: 11300 } },
  state: node => ask(node, 'stats', /^OK \d+\r\n[\s\S]*\r\n$/),
  clients: {
    put: {
      run: ({ queue }, { ordinal }) => ask(queue!, `put ${ordinal} ${ordinal % 2} 1 3\r\njob`, /INSERTED \d+\r\n/),
      times: 20,
    },
    take: {
      run: ({ queue }) => ask(queue!, 'reserve-with-timeout 5', /(RESERVED .*\r\njob|TIMED_OUT|DEADLINE_SOON)\r\n/),
      times: 20,
    },
  },
  properties: { answers: always(({ nodes }) => nodes.length === 1) },
})
