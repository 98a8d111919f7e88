import { always, defineSystem, type NodeHandle } from 'lastnail'

const get = async (node: NodeHandle) => (await (await node.http(8000, '/')).body).text()

/** One web server, which two clients ask by turns. */
export const web = (name: string, command: readonly [string, ...string[]]) =>
  defineSystem({
    name,
    nodes: { web: { command: [...command], listens: 8000 } },
    state: node => node.output().stdout,
    clients: {
      a: { run: ({ web }) => get(web!), times: 20 },
      b: { run: ({ web }) => get(web!), times: 20 },
    },
    properties: { answers: always(({ nodes }) => nodes.length === 1) },
  })
