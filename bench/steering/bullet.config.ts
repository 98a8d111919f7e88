import { join } from 'node:path'
import { defineSystem, type SystemDefinition } from 'lastnail'
import { packageRoot } from '../corpus/package-root.ts'

const count = Number(process.env.COUNT ?? 12)
const megabytes = Number(process.env.MEGABYTES ?? 5)
const blockBytes = 65_536
const blocks = Math.ceil((megabytes * 1e6) / blockBytes)
/** Each node has so many receivers. */
const receiversMax = 4

const cwd = join(packageRoot, 'examples/corpus/bullet')
const { default: corpus } = (await import(join(cwd, 'lastnail.config.ts'))) as { default: SystemDefinition }

const names = Array.from({ length: count }, (_, index) => `n${index}`)
const address = (name: string) => `{{${name}.address}}:7000`
/** Those at distances of powers of two, so that each node is few blocks away from the source. */
const receiversOf = (index: number) =>
  Array.from({ length: receiversMax }, (_, power) => (index + 2 ** power) % count).filter(each => each !== 0)

/** Bullet' distributes a file over an internet. A node has joined when it has the whole file. */
export default defineSystem({
  ...corpus,
  nodes: Object.fromEntries(
    names.map((name, index) => [
      name,
      {
        command: [
          ...['node', '--no-memory-reducer', 'node.js', address(name), String(index === 0 ? blocks : 0)],
          ...receiversOf(index).map(each => address(names[each]!)),
        ],
        cwd,
        env: { BLOCK_BYTES: String(blockBytes) },
        listens: 7000,
      },
    ]),
  ),
  emulation: {
    topology: { kind: 'inet', nodes: 1000, meanRtt: 130 },
    joined: ({ state }) => (state as { readonly blocks?: readonly number[] } | undefined)?.blocks?.length === blocks,
    for: '60s',
  },
})
