import { once } from 'node:events'
import { defineSystem, eventually, type NodeHandle } from 'lastnail'

/** Commands in turn, over one connection, which ends with the last answer. */
const session = async (queue: NodeHandle, next: (answer: string) => string | undefined): Promise<string> => {
  const connection = queue.tcp(11300)
  for (let answer = ''; ; ) {
    const command = next(answer)
    if (command === undefined) {
      connection.destroy()
      return answer
    }
    connection.write(`${command}\r\n`)
    answer = String((await once(connection, 'data'))[0]).trim()
  }
}

/** Waits for a job for five seconds at the most, and deletes the one that it gets. */
const work = ({ queue }: { queue: NodeHandle }) =>
  session(queue, answer => {
    if (answer === '') return 'reserve-with-timeout 5'
    return answer.startsWith('RESERVED') ? `delete ${answer.split(' ')[1]}` : undefined
  })

/** One queue, exactly as Debian has it, with one job and two workers. */
export default defineSystem({
  name: 'beanstalkd',
  nodes: { queue: { command: ['beanstalkd'], listens: 11300 } },
  clients: {
    ann: work,
    bob: work,
    put: ({ queue }) => session(queue, answer => (answer === '' ? 'put 0 0 60 3\r\njob' : undefined)),
  },
  properties: {
    everyWaitEnds: eventually(({ calls }) => calls.every(({ completedAt }) => completedAt !== undefined)),
  },
})
