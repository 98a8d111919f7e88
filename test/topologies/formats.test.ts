import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readGml, writeGml } from '../../topologies/formats/gml.ts'
import { readGraphml, writeGraphml } from '../../topologies/formats/graphml.ts'
import { readInet, writeInet } from '../../topologies/formats/inet.ts'
import { readJson, writeJson } from '../../topologies/formats/json.ts'
import { formatTime, parseBandwidth, parseTime } from '../../topologies/formats/units.ts'
import { arcsOfLink } from '../../topologies/formats/ways.ts'
import { generate } from '../../topologies/generate/generate.ts'
import { place } from '../../topologies/place.ts'
import { collapse } from '../../topologies/routes.ts'
import { describeSummary, summarise } from '../../topologies/summary/summary.ts'
import type { Topology } from '../../topologies/topology.ts'
import { anyTopology } from './graphs.ts'

/** Directed files do not say which two edges are one link. */
const meaning = ({ nodes, links }: Topology) => ({
  nodes,
  arcs: links
    .flatMap(arcsOfLink)
    .map(arc => JSON.stringify(arc, Object.keys({ ...arc, ...arc.pipe, packets: 0, bytes: 0 }).sort()))
    .sort(),
})

describe('what is written is read again', () => {
  it('a graph written as JSON is read again exactly', () => {
    fc.assert(
      fc.property(anyTopology(), topology => {
        expect(readJson(writeJson(topology))).toEqual(topology)
      }),
    )
  })

  it('a graph written as GraphML is read again', () => {
    fc.assert(
      fc.property(anyTopology(), topology => {
        expect(meaning(readGraphml(writeGraphml(topology)))).toEqual(meaning(topology))
      }),
    )
  })

  it('a graph written as GML is read again, with numbers as ids', () => {
    const ids = fc.nat(999_999_999).map(String)
    fc.assert(
      fc.property(anyTopology(ids), topology => {
        expect(meaning(readGml(writeGml(topology)))).toEqual(meaning(topology))
      }),
    )
  })

  it('a graph written as GML has other ids as labels', () => {
    const nodes = readGml(writeGml(generate('star', 3, 1))).nodes.map(({ id, label }) => ({ id, label }))
    expect(nodes).toEqual([
      { id: '0', label: 'hub' },
      { id: '1', label: 's1' },
      { id: '2', label: 's2' },
    ])
  })

  it('INET, where delays are lengths and roles those of the degrees', () => {
    const { nodes, links } = generate('transit-stub', 60, 1)
    const degreeOne = (id: string) => links.filter(({ from, to }) => from === id || to === id).length === 1
    const written = readInet(writeInet({ nodes, links }))
    expect(written.nodes).toEqual(nodes.map(node => ({ ...node, role: degreeOne(node.id) ? 'stub' : 'transit' })))
    const plain = (topology: Pick<Topology, 'links'>) => topology.links.map(({ class: _, ...link }) => link)
    expect(plain(written)).toEqual(plain({ links }))
  })
})

describe('files of others', () => {
  it('INET’s output: degree one is a stub, 300 units of length are a millisecond', () => {
    const text = '3 2\n0\t10\t20\n1\t310\t420\n2\t0\t0\n0\t1\t500\n1\t2\t600\n'
    expect(readInet(text)).toEqual({
      nodes: [
        { id: '0', at: [10, 20], role: 'stub' },
        { id: '1', at: [310, 420], role: 'transit' },
        { id: '2', at: [0, 0], role: 'stub' },
      ],
      links: [
        { from: '0', to: '1', delayMs: 500 / 300, class: 'stub-transit' },
        { from: '1', to: '2', delayMs: 2, class: 'stub-transit' },
      ],
    })
  })

  it('the Topology Zoo’s GraphML: fibre between places, the mean delay where one is unknown', () => {
    const text = `<?xml version="1.0" encoding="utf-8"?>
      <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
        <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d35"/>
        <key attr.name="label" attr.type="string" for="node" id="d33"/>
        <key attr.name="Longitude" attr.type="double" for="node" id="d32"/>
        <key attr.name="Latitude" attr.type="double" for="node" id="d29"/>
        <key attr.name="Network" attr.type="string" for="graph" id="d3"/>
        <graph edgedefault="undirected">
          <data key="d3">Equator &amp; Co</data>
          <node id="0"><data key="d29">0.0</data><data key="d32">0.0</data><data key="d33">Null Island</data></node>
          <node id="1"><data key="d29">0.0</data><data key="d32">90.0</data></node>
          <node id="2"/>
          <edge source="0" target="1"><data key="d35">10000000000.0</data></edge>
          <edge source="1" target="2"/>
        </graph>
      </graphml>`
    const quarterOfTheEarth = expect.closeTo((6371 * Math.PI) / 2 / 200, 6)
    expect(readGraphml(text)).toEqual({
      name: 'Equator & Co',
      nodes: [
        { id: '0', label: 'Null Island', at: [0, 0], role: 'stub' },
        { id: '1', at: [90, 0], role: 'transit' },
        { id: '2', role: 'stub' },
      ],
      links: [
        { from: '0', to: '1', class: 'stub-transit', delayMs: quarterOfTheEarth, bandwidth: 1e10 },
        { from: '1', to: '2', class: 'stub-transit', delayMs: quarterOfTheEarth },
      ],
    })
  })

  it('Shadow’s GML: units, access, and two edges as the ways of one link', () => {
    const text = `# two hosts
      graph [
        directed 1
        node [ id 0 host_bandwidth_down "100 Mbit" host_bandwidth_up "10 megabit" ]
        node [ id 1 label "node at 1.2.3.4" ]
        edge [ source 0 target 0 latency "1 ms" packet_loss 0.0 ]
        edge [ source 0 target 1 latency "10 ms" jitter "500 us" packet_loss 0.01 ]
        edge [ source 1 target 0 latency "2 s" packet_loss 0.0 ]
      ]`
    expect(readGml(text)).toEqual({
      nodes: [
        { id: '0', role: 'stub', access: { delayMs: 0, bandwidth: 1e8, back: { delayMs: 0, bandwidth: 1e7 } } },
        { id: '1', role: 'stub', label: 'node at 1.2.3.4' },
      ],
      links: [
        { from: '0', to: '1', class: 'stub-stub', delayMs: 10, jitterMs: 0.5, loss: 0.01, back: { delayMs: 2000 } },
      ],
    })
  })
})

describe('what public files have', () => {
  it('Shadow’s switch: one node, any number of hosts, the latency of its edge to itself between them', () => {
    const topology = readGml(`graph [
      node [ id 0 host_bandwidth_up "1 Gbit" host_bandwidth_down "2 Gbit" ]
      edge [ source 0 target 0 latency "10 ms" jitter "2 ms" packet_loss 0.5 ]
    ]`)
    const [up, down] = [{ bandwidth: 1e9, jitterMs: 2, loss: 0.5 }, { bandwidth: 2e9 }]
    expect(topology.nodes).toEqual([
      { id: '0', role: 'stub', access: { delayMs: 5, ...down, back: { delayMs: 5, ...up } } },
    ])
    const routes = collapse(place(topology, ['a', 'b', 'c'], 1), ['a', 'b', 'c'])
    expect(routes).toHaveLength(6)
    for (const { delayMs, hops } of routes) expect([delayMs, hops]).toEqual([10, 2])
    expect(describeSummary(summarise(topology))[0]).toBe('topology: 1 nodes (1 stub), 0 links')
  })

  it('a link speed of 0 in the Topology Zoo is not known', () => {
    const of = (speed: number) =>
      readGml(`graph [
        node [ id 0 ] node [ id 1 ]
        edge [ source 0 target 1 latency "1 ms" LinkSpeedRaw ${speed} ]
      ]`).links
    expect(of(0)).toEqual([{ from: '0', to: '1', class: 'stub-stub', delayMs: 1 }])
    expect(of(1000)).toMatchObject([{ bandwidth: 1000 }])
    expect(() => of(-1)).toThrow('LinkSpeedRaw: expected bits a second, found "-1"')
  })
})

describe('units', () => {
  it.each([
    ['10 ms', 10],
    ['10ms', 10],
    ['1.5 s', 1500],
    ['2', 2000],
    ['3 minutes', 180_000],
    ['7 us', 0.007],
    ['3 ns', 0.000003],
    ['ten ms', undefined],
    ['-1 ms', undefined],
    ['1 m s', undefined],
  ])('time %j', (text, ms) => expect(parseTime(text)).toBe(ms))

  it.each([
    ['100 Mbit', 1e8],
    ['1 gigabit', 1e9],
    ['8 kibibits', 8192],
    ['500 bit', 500],
    ['100 MB', undefined],
    ['100', undefined],
  ])('bandwidth %j', (text, bandwidth) => expect(parseBandwidth(text)).toBe(bandwidth))

  it.each([
    [0, '0 s'],
    [60_000, '60 s'],
    [12.5, '12500 us'],
    [140 / 3, '46666667 ns'],
  ])('%d ms', (ms, text) => expect(formatTime(ms)).toBe(text))
})
