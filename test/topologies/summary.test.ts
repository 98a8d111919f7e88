import { SaxesParser } from 'saxes'
import { describe, expect, it } from 'vitest'
import { generate } from '../../topologies/generate/generate.ts'
import { drawTopology } from '../../topologies/picture/picture.ts'
import { fitPowerLaw } from '../../topologies/summary/power-law.ts'
import { describeSummary, summarise } from '../../topologies/summary/summary.ts'

describe('power laws', () => {
  it('are found exactly where they hold', () => {
    const law = fitPowerLaw([1, 2, 5, 10, 100].map(x => [x, 3 * x ** -1.5]))!
    expect(law.exponent).toBeCloseTo(-1.5, 12)
    expect(law.factor).toBeCloseTo(3, 12)
    expect(law.correlation).toBeCloseTo(-1, 12)
  })

  it('are not seen in less than three points, or in what does not change', () => {
    expect(
      fitPowerLaw([
        [1, 1],
        [2, 0.5],
      ]),
    ).toBeNull()
    expect(
      fitPowerLaw([
        [1, 1],
        [2, 0.5],
        [3, 0],
      ]),
    ).toBeNull()
    expect(
      fitPowerLaw([
        [1, 1],
        [2, 1],
        [3, 1],
      ]),
    ).toBeNull()
  })
})

describe('summary', () => {
  it('counts nodes, links, degrees and routes', () => {
    expect(summarise(generate('dumbbell', 6, 1))).toEqual({
      name: 'dumbbell of 6 nodes',
      nodes: { transit: 2, stub: 4, client: 0 },
      links: 5,
      linksWithoutLimit: 5,
      degrees: {
        ...{ mean: 5 / 3, largest: 3, degreeOneShare: 2 / 3, rankLaw: null, ccdfLaw: null },
        ccdf: [
          [1, 1 / 3],
          [3, 0],
        ],
      },
      routes: {
        ends: 4,
        hops: { mean: expect.closeTo((4 * 2 + 8 * 3) / 12, 12), most: 3 },
        roundTripMs: { mean: expect.closeTo((4 * 20 + 8 * 40) / 12, 12), least: 20, most: 40 },
      },
    })
  })

  it('a summary is said in some lines', () => {
    expect(describeSummary(summarise(generate('mesh', 4, 1)))).toEqual([
      'mesh of 4 nodes: 4 nodes (4 stub), 6 links',
      'degree: 3.00 in the mean, 3 at most, 0.0 % have one link',
      'routes between 4 ends: 1.00 links in the mean, 1 at most',
      'round trip: 20.0 ms in the mean, from 20.0 to 20.0 ms',
      'bandwidth: no limit on 6 of 6 links',
    ])
    const { links, ...mesh } = generate('mesh', 4, 1)
    const limited = { ...mesh, links: links.map(link => ({ ...link, bandwidth: 1e6 })) }
    expect(describeSummary(summarise(limited)).at(-1)).toMatch(/^round trip/)
  })
})

describe('picture', () => {
  const shapesIn = (svg: string) => {
    const shapes: Record<string, number> = {}
    const parser = new SaxesParser()
    parser.on('opentag', ({ name }) => {
      shapes[name] = (shapes[name] ?? 0) + 1
    })
    parser.on('error', error => {
      throw error
    })
    parser.write(svg).close()
    return shapes
  }
  const draw = (...args: Parameters<typeof generate>) => {
    const topology = generate(...args)
    return { topology, svg: drawTopology(topology, summarise(topology)) }
  }

  it('has every link and every node of the map, and a point for each degree', () => {
    const { topology, svg } = draw('transit-stub', 100, 1)
    expect(svg.match(/M[\d.]+,[\d.]+L/g)).toHaveLength(topology.links.length)
    expect(svg.match(/M[\d.]+,[\d.]+h0/g)).toHaveLength(topology.nodes.length)
    const { degrees } = summarise(topology)
    expect(shapesIn(svg).circle).toBe(degrees.ccdf.filter(([, share]) => share > 0).length)
  })

  it('is drawn where there is one degree, and where no node has a place', () => {
    const { topology, svg } = draw('mesh', 4, 1)
    expect(shapesIn(svg)).toMatchObject({ svg: 1, title: 1 })
    const nowhere = { ...topology, name: '<4 & "more">', nodes: topology.nodes.map(({ id, role }) => ({ id, role })) }
    const drawn = drawTopology(nowhere, summarise(nowhere))
    expect(drawn.match(/h0/g)).toHaveLength(4)
    expect(shapesIn(drawn)).toMatchObject({ svg: 1 })
    expect(drawn).not.toMatch(/NaN|Infinity|undefined/)
  })
})
