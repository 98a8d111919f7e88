import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTopology, writeTopology } from '../../topologies/formats/file.ts'
import { readGml } from '../../topologies/formats/gml.ts'
import { readGraphml } from '../../topologies/formats/graphml.ts'
import { readInet, writeInet } from '../../topologies/formats/inet.ts'
import { readJson } from '../../topologies/formats/json.ts'
import { generate } from '../../topologies/generate/generate.ts'

describe('our JSON', () => {
  const node = { id: 'a', role: 'stub' }
  const link = { from: 'a', to: 'b', class: 'stub-stub', delayMs: 1 }
  const read = (fields: object) => () =>
    readJson(JSON.stringify({ nodes: [node, { id: 'b', role: 'stub' }], links: [link], ...fields }))

  it('says the line where a file is torn', () => {
    expect(() => readJson('{\n"nodes": [\n{"id"')).toThrow(/^line 3: expected JSON, found /)
  })

  it('says the field, what was expected and what was found', () => {
    expect(read({ nodes: [] })).toThrow('nodes: expected at least one node, found []')
    expect(read({ links: [{ ...link, delayMs: -4 }] })).toThrow(
      'links[0].delayMs: expected milliseconds of at least 0, found -4',
    )
    expect(read({ links: [{ ...link, delay: 4 }] })).toThrow(
      'links[0]: unknown field "delay": there are from, to, class, delayMs, jitterMs, bandwidth, loss, queue, cross, back',
    )
    expect(read({ links: [{ ...link, back: { delayMs: 1, loss: 1.5 } }] })).toThrow(
      'links[0].back.loss: expected a probability from 0 to 1, found 1.5',
    )
    for (const queue of [{ packets: 1.5 }, { bytes: 1000.5 }])
      expect(read({ links: [{ ...link, queue }] })).toThrow('expected a queue')
    expect(read({ links: [{ ...link, queue: { packets: 0 } }] })).toThrow(
      'links[0].queue.packets: expected a number of packets, from 1 to 100000, found 0',
    )
    expect(read({ links: [{ ...link, queue: { packets: 2 ** 53 } }] })).toThrow(
      'links[0].queue.packets: expected a number of packets, from 1 to 100000, found 9007199254740992',
    )
    expect(read({ links: [{ ...link, queue: 7 }] })).toThrow(
      "links[0].queue: expected a queue: { packets: 100 } or { bytes: 65536 }, and discipline: 'droptail', 'red' or 'codel', found 7",
    )
    expect(read({ links: [{ ...link, cross: { bandwidth: 1 } }] })).toThrow(
      'links[0].cross: expected a bandwidth, which cross traffic shares',
    )
    expect(read({ links: [{ ...link, back: { delayMs: 1, bandwidth: 5, cross: { bandwidth: 5 } } }] })).toThrow(
      'links[0].back.cross: expected a queue, or cross traffic below the bandwidth of 5: what waits would grow without end',
    )
    expect(read({ links: [{ ...link, bandwidth: 5, cross: { bandwidth: 1, burst: 101 } }] })).toThrow(
      'links[0].cross.burst: expected how many packets come at once, from 1 to 100, found 101',
    )
    expect(read({ nodes: [{ ...node, role: 'router' }] })).toThrow(
      'nodes[0].role: expected one of transit, stub, client, found "router"',
    )
    expect(read({ links: undefined })).toThrow('links: expected a list of links, found nothing')
  })

  it('says which node is there twice, or not at all', () => {
    expect(read({ nodes: [node, node] })).toThrow(
      'nodes[1].id: there is a node "a" before this one\nlinks[0].to: there is no node "b"',
    )
    expect(read({ links: [{ ...link, to: 'a' }] })).toThrow(
      'links[0]: expected a link between two nodes, found one from "a" to itself',
    )
  })

  it('says no more than ten of many problems', () => {
    const wrong = Array(30).fill({ ...link, delayMs: -1 })
    expect(read({ links: wrong })).toThrow(/and 20 more$/)
  })
})

describe('INET', () => {
  it.each([
    ['', 'expected "nodes links", but the file ends at its beginning'],
    ['2 1\n0 0 0\n', 'expected "id x y", but the file ends after 1 of 2 nodes'],
    ['2 2\n0 0 0\n1 1 1\n0 1 5\n', 'expected "id1 id2 weight", but the file ends after 1 of 2 links'],
    ['2 1\n0 0 0\n1 one 1\n', 'line 3: expected "id x y", found "1 one 1"'],
    ['2 1\n0 0 0\n0 1 1\n', 'line 3: there is a node 0 before this one'],
    ['2 1\n0 0 0\n1 1 1\n0 7 5\n', 'line 4: the link ends at node 7, which is not there'],
    ['2 1\n0 0 0\n1 1 1\n0 1 -5\n', 'line 4: expected a weight of at least 0, found -5'],
    ['1 1\n0 0 0\n0 0 5\n', 'line 3: expected a link between two nodes, found one from 0 to itself'],
    ['1 0\n0 0 0\n0 0 5\n', 'line 3: expected the end of the file after 0 links'],
    ['two nodes\n', 'line 1: expected "nodes links", found "two nodes"'],
    ['0.5 1\n', 'line 1: expected the numbers of nodes and links, found "0.5 1"'],
  ])('%j', (text, message) => expect(() => readInet(text)).toThrow(message))

  it('cannot have nodes without a place', () => {
    const { nodes, links } = generate('star', 3, 1)
    const nowhere = { nodes: nodes.map(({ id, role }) => ({ id, role })), links }
    expect(() => writeInet(nowhere)).toThrow('cannot write node "hub" in INET\'s format: it has no place on the plane')
  })
})

describe('GML', () => {
  const graph = (content: string) => `graph [\n${content}\n]`
  const nodes = 'node [ id 0 ] node [ id 1 ]'

  it.each([
    ['node [ id 0 ]', 'expected "graph [ … ]", found none'],
    ['graph [\n node [ id 0 ]', 'line 1: the file ends before this bracket is closed'],
    ['graph [\n node [ id', 'line 2: the file ends before the value of id'],
    ['graph [ ] ]', 'line 1: expected the name of a field, found "]"'],
    ['graph [\n\n 7 ]', 'line 3: expected the name of a field, found "7"'],
    ['graph [ node ] ]', 'line 1: expected a value of node, found "]"'],
    ['graph [\n id "open ]', 'line 2: expected GML, found "\\"open ]"'],
    [graph(''), 'expected at least one node, found none'],
    [graph('node 3'), 'line 2: expected "node [ … ]"'],
    [graph('node [ label "x" ]'), 'line 2: expected a node with id, found none'],
    [graph('node [ id 0 ]\nnode [ id 0 ]'), 'line 3: there is a node "0" before this one'],
    [
      graph(`${nodes}\nedge [ source 0 target 9 latency "1 ms" ]`),
      'line 3: the edge ends at node "9", which is not there',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "10 parsecs" ]`),
      'line 3: edge from "0" to "1": latency: expected a time such as "10 ms", found "10 parsecs"',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "-10 ms" ]`),
      'line 3: edge from "0" to "1": latency: expected a time such as "10 ms", found "-10 ms"',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "1 ms" packet_loss 2.0 ]`),
      'line 3: edge from "0" to "1": packet_loss: expected a probability from 0 to 1, found "2"',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "1 ms" queue_packets 9007199254740992 ]`),
      'line 3: edge from "0" to "1": queue_packets: expected a number of packets from 1 to 100000, found "9007199254740992"',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "1 ms" cross_bandwidth 5 ]`),
      'line 3: edge from "0" to "1": cross_bandwidth: expected a bandwidth, which cross traffic shares',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 latency "1 ms" LinkSpeedRaw 9 cross_bandwidth 5 cross_burst 1.5 ]`),
      'line 3: edge from "0" to "1": cross_burst: expected a number of packets from 1 to 100, found "1.5"',
    ],
    [
      graph(`${nodes}\nedge [ source 0 target 1 ]`),
      'line 3: expected a latency, or places at both ends to reckon it from, found none',
    ],
    [
      graph('node [ id 0 host_bandwidth_up "fast" ]'),
      'line 2: node "0": host_bandwidth_up: expected a bandwidth such as "100 Mbit", found "fast"',
    ],
  ])('%j', (text, message) => expect(() => readGml(text)).toThrow(message))
})

describe('GraphML', () => {
  it.each([
    ['', /^line 1: /],
    ['<graphml>\n<graph edgedefault="undirected">\n<node id="0"/>', /^line 3: unclosed tag: graph/],
    ['<graphml>\n<graph>\n<node id="0">\n</graph>\n</graphml>', /^line 4: unexpected close tag/],
    ['<graphml></graphml>', 'expected GraphML, found no <graph>'],
    ['<graphml><graph></graph><graph></graph></graphml>', 'line 1: expected one graph, found another'],
    ['<graphml><graph><node/></graph></graphml>', 'line 1: expected <node> with id, found none'],
    ['<graphml><graph><node id="0"><data key="d0">1</data></node></graph></graphml>', 'line 1: there is no key "d0"'],
    [
      '<graphml><graph><node id="0"/>\n<edge source="0" target="1"/></graph></graphml>',
      'line 2: the edge ends at node "1", which is not there',
    ],
  ])('%j', (text, message) => expect(() => readGraphml(text)).toThrow(message))
})

describe('files', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'lastnail-topologies-'))
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  it('says which file it is about', () => {
    const path = join(directory, 'torn.inet')
    writeFileSync(path, '2 1\n0 0 0\n')
    expect(() => readTopology(path)).toThrow(`${path}: expected "id x y", but the file ends after 1 of 2 nodes`)
    expect(() => readTopology(join(directory, 'absent.gml'))).toThrow(
      `cannot read ${join(directory, 'absent.gml')}: no such file or directory`,
    )
    expect(() => readTopology(directory)).toThrow(`cannot read ${directory}: it is a directory`)
    const nowhere = join(directory, 'absent', 't.json')
    expect(() => writeTopology(nowhere, generate('star', 3, 1))).toThrow(
      `cannot write ${nowhere}: no such file or directory`,
    )
  })
})
