import { defineSystem, type NodeDefinition } from 'lastnail'
import local from './lock.config.ts'

/** The same three members in containers, of an image that has etcd. */
const image = process.env.ETCD_IMAGE ?? 'quay.io/coreos/etcd:v3.4.23'

const nodes = Object.entries(local.nodes as Record<string, NodeDefinition>)

export default defineSystem({
  ...local,
  nodes: Object.fromEntries(nodes.map(([name, node]) => [name, { ...node, image }])),
})
