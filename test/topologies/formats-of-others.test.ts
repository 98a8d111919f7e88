import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readTopology } from '../../topologies/formats/file.ts'
import { largestPart, partsOf } from '../../topologies/parts.ts'
import { collapse } from '../../topologies/routes.ts'

const directory = mkdtempSync(join(tmpdir(), 'lastnail-formats-'))
afterAll(() => rmSync(directory, { recursive: true }))

/** Recognised by its content: the name says nothing. */
const read = (text: string) => {
  const path = join(directory, 'topology.txt')
  writeFileSync(path, text)
  return readTopology(path)
}

const brite = `Topology: ( 3 Nodes, 3 Edges )
Model (1 - RTWaxman):  3 1000 100 1  2  0.15 0.2 1 1 10.0 1024.0

Nodes: ( 3 )
0\t0.00\t0.00\t2\t2\t-1\tRT_NODE
1\t300.00\t0.00\t2\t2\t-1\tRT_NODE
2\t0.00\t600.00\t1\t1\t-1\tRT_NODE

Edges: ( 3 )
0\t0\t1\t300.0\t1.0\t10.0\t-1\t-1\tE_RT\tU
1\t0\t2\t600.0\t2.0\t-1.0\t-1\t-1\tE_RT\tU
2\t1\t2\t670.8\t2.25\t8.0\t-1\t-1\tE_RT\tD
`

test('BRITE: milliseconds, Mbit/s, and edges that lead one way', () => {
  const { nodes, links } = read(brite)
  expect(nodes.map(({ id, at }) => [id, at])).toEqual([
    ['0', [0, 0]],
    ['1', [300, 0]],
    ['2', [0, 600]],
  ])
  expect(links).toMatchObject([
    { from: '0', to: '1', delayMs: 1, bandwidth: 10e6 },
    { from: '0', to: '2', delayMs: 2 },
    { from: '1', to: '2', delayMs: 2.25, bandwidth: 8e6, back: null },
  ])
  expect(links[1]).not.toHaveProperty('bandwidth')
})

test('GT-ITM: names tell the roles, a unit of length is a millisecond', () => {
  const { nodes, links } = read(`GRAPH (#nodes #edges id uu vv ww xx yy zz):
4 3 transtub(1,0) 2 3

VERTICES (index name u v w x y z):
0 T:0.0 10 20
1 S:0.0/0.0 11 21
2 S:0.0/0.1 12 22
3 T:0.1 13 23

EDGES (from-node to-node length a b):
0 1 5 0
1 2 1
0 3 12
`)
  expect(nodes.map(({ label, role }) => [label, role])).toEqual([
    ['T:0.0', 'transit'],
    ['S:0.0/0.0', 'stub'],
    ['S:0.0/0.1', 'stub'],
    ['T:0.1', 'transit'],
  ])
  expect(links.map(({ from, to, delayMs, class: kind }) => [from, to, delayMs, kind])).toEqual([
    ['0', '1', 5, 'stub-transit'],
    ['1', '2', 1, 'stub-stub'],
    ['0', '3', 12, 'transit-transit'],
  ])
  expect(() => read('* GraphBase graph (util_types ZZZIIZ,4V,6A)\n')).toThrow(/`sgb2alt` converts it/)
})

test.each([
  ['serial-1', '# source:topology|BGP\n1|2|-1\n1|3|-1\n2|3|0\n3|4|-1\n'],
  ['serial-2', '# input clique: 1\n1|2|-1|bgp\n1|3|-1|bgp\n2|3|0|mlp\n3|4|-1|bgp\n'],
])('relationships of CAIDA, %s: a system without customers is a stub', (_kind, text) => {
  const { nodes, links } = read(text)
  expect(nodes.map(({ id, role }) => `${id} ${role}`)).toEqual(['1 transit', '2 stub', '3 transit', '4 stub'])
  expect(links.map(({ from, to, delayMs }) => [from, to, delayMs])).toEqual([
    ['1', '2', 10],
    ['1', '3', 10],
    ['2', '3', 10],
    ['3', '4', 10],
  ])
})

const sndlib = (coordinates: string) => `<?xml version="1.0" encoding="ISO-8859-1"?>
<network xmlns="http://sndlib.zib.de/network" version="1.0">
 <meta><granularity>5min</granularity><unit>MBITPERSEC</unit></meta>
 <networkStructure>
  <nodes coordinatesType="${coordinates}">
   <node id="A"><coordinates><x>0.0</x><y>0.0</y></coordinates></node>
   <node id="B"><coordinates><x>0.0</x><y>9.0</y></coordinates></node>
   <node id="C"><coordinates><x>0.0</x><y>4.5</y></coordinates></node>
  </nodes>
  <links>
   <link id="A_B"><source>A</source><target>B</target><preInstalledModule><capacity>9920.0</capacity><cost>0.0</cost></preInstalledModule></link>
   <link id="B_C"><source>B</source><target>C</target></link>
  </links>
 </networkStructure>
 <demands><demand id="D1"><source>A</source><target>C</target><demandValue>1.0</demandValue></demand></demands>
</network>
`

test('SNDlib: fibre between places on the globe, capacity in the unit of the file', () => {
  const { links } = read(sndlib('geographical'))
  // 9 degrees of latitude are 1,000.75 km, and light in fibre takes a millisecond for 200.
  expect(links).toMatchObject([
    { from: 'A', to: 'B', bandwidth: 9920e6, delayMs: expect.closeTo(5.004, 3) },
    { from: 'B', to: 'C', delayMs: expect.closeTo(2.502, 3) },
  ])
  expect(links).toHaveLength(2)
  expect(links[1]).not.toHaveProperty('bandwidth')
  expect(read(sndlib('pixel')).links.map(({ delayMs }) => delayMs)).toEqual([10, 5])
})

const modelnet = `<?xml version="1.0" encoding="ISO-8859-1"?>
<topology>
  <vertices>
    <vertex int_idx="0" role="gateway" />
    <vertex int_idx="1" role="virtnode" int_vn="0" />
    <vertex int_idx="2" role="virtnode" int_vn="1" />
  </vertices>
  <edges>
    <edge int_idx="0" int_src="1" int_dst="0" specs="client-stub" />
    <edge int_idx="1" int_src="0" int_dst="1" specs="client-stub" int_delayms="7" />
    <edge int_idx="2" int_src="2" int_dst="0" specs="client-stub" />
    <edge int_idx="3" int_src="0" int_dst="2" specs="client-stub" />
  </edges>
  <specs><client-stub dbl_plr="0.01" dbl_kbps="768" int_delayms="3" int_qlen="10" /></specs>
</topology>
`

test('ModelNet: an edge has what its kind has, unless it says it; virtual nodes are stubs', () => {
  const { nodes, links } = read(modelnet)
  expect(nodes.map(({ id, role, label }) => [id, role, label])).toEqual([
    ['0', 'transit', undefined],
    ['1', 'stub', 'vn 0'],
    ['2', 'stub', 'vn 1'],
  ])
  const pipe = { delayMs: 3, bandwidth: 768e3, loss: 0.01, queue: { packets: 10 } }
  expect(links).toEqual([
    { from: '1', to: '0', class: 'client-stub', ...pipe, back: { ...pipe, delayMs: 7 } },
    { from: '2', to: '0', class: 'client-stub', ...pipe },
  ])
  expect(() => read('<allpairs><path int_vnsrc="0" int_vndst="1" hops="0 3"/></allpairs>')).toThrow(
    /give the \.graph file/,
  )
})

test('GML of networkx 1: constants, lists and dictionaries of Python', () => {
  const { nodes, links } = read(`graph [
  directed False
  node [
    id 0
    label "a"
    pos [1.5, 'x', (2, 3)]
    tags {'a': [1]}
    geocode None
    Longitude 10
    Latitude 50
  ]
  node [
    id 1
    label "b"
    Internal True
    Longitude 11
    Latitude 50
  ]
  edge [
    source 0
    target 1
    latency "4 ms"
    empty []
  ]
]
`)
  expect(nodes.map(({ label, at }) => [label, at])).toEqual([
    ['a', [10, 50]],
    ['b', [11, 50]],
  ])
  expect(links).toMatchObject([{ from: '0', to: '1', delayMs: 4 }])
  expect(() => read('graph [ node [ id 0 label\nname "x" ] ]')).toThrow(/line 2: expected a value of label/)
  expect(() => read('graph [ node [ id 0 pos [1, 2 ] ')).toThrow(/the file ends before/)
})

test('a graph in parts is refused with their sizes, and its largest part can be kept', () => {
  const path = join(directory, 'parts.gml')
  const node = (id: number) => `node [ id ${id} ]`
  const edge = (from: number, to: number) => `edge [ source ${from} target ${to} latency "1 ms" ]`
  writeFileSync(
    path,
    `graph [ ${[0, 1, 2, 3, 4, 5].map(node)} ${[edge(1, 2), edge(3, 4), edge(4, 5)]} ]`.replaceAll(',', ' '),
  )
  const found = readTopology(path)
  expect(partsOf(found)).toEqual([['3', '4', '5'], ['1', '2'], ['0']])
  expect(() => collapse(found, ['1', '3'])).toThrow(
    /there is no way from "1" to "3": the graph is in 3 parts, of 3, 2, 1 nodes/,
  )
  const kept = largestPart(found)
  expect(kept.nodes.map(({ id }) => id)).toEqual(['3', '4', '5'])
  expect(kept.links).toHaveLength(2)
})

test.each([
  ['the end of an edge', brite.replace('1\t0\t2', '1\t0\t9'), /line 11: the edge ends at node "9"/],
  [
    'no number',
    brite.replace('300.0\t1.0', '300.0\tfast'),
    /line 10: expected "id from to .*", found "0 0 1 300.0 fast/,
  ],
  ['a relationship', '1|2|-1\n1|2\n', /line 2: expected "provider\|customer\|-1"/],
  [
    'a delay',
    modelnet.replace('int_delayms="7"', 'int_delayms="soon"'),
    /line 10: expected <edge> with int_delayms, found soon/,
  ],
  ['a place', sndlib('pixel').replace('<x>0.0</x>', ''), /line 6: expected <node> with <x>, found none/],
  ['XML', sndlib('pixel').replace('</links>', ''), /line 14: /],
  ['all of it', 'hello\n', /expected a topology in JSON, GraphML, GML, .* found none of them/],
])('a file in which %s is wrong is refused with the line', (_what, text, message) => {
  expect(() => read(text)).toThrow(message)
})
