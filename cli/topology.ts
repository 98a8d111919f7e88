import type { Command } from 'commander'
import { readTopology, writerOf, writeText, writeTopology } from '../topologies/formats/file.ts'
import { type TopologyKind, topologyKinds } from '../topologies/generate/generate.ts'
import { generateInternet } from '../topologies/generate/internet.ts'
import { largestPart } from '../topologies/parts.ts'
import { drawTopology } from '../topologies/picture/picture.ts'
import { withMeanRoundTrip } from '../topologies/round-trip.ts'
import { describeSummary, summarise } from '../topologies/summary/summary.ts'
import type { Topology } from '../topologies/topology.ts'
import { print } from './command/print.ts'
import { aboveZero, share, wholeNumber } from './command/values.ts'

interface OutputOptions {
  readonly meanRtt?: number
  readonly out?: string
  readonly svg?: string
  readonly json?: boolean
}

interface GenerateOptions extends OutputOptions {
  readonly nodes: number
  readonly seed: number
  readonly cross?: number
}

interface ConvertOptions extends OutputOptions {
  readonly largestPart?: boolean
}

const descriptions: Readonly<Record<TopologyKind, string>> = {
  inet: 'an internet by INET-3.0: degrees by power laws',
  'transit-stub': 'domains of routers with stub domains, in the manner of GT-ITM',
  'two-tier': 'routers that are all linked, stubs behind them',
  mesh: 'stubs that are all linked',
  star: 'stubs around one router',
  dumbbell: 'stubs behind two routers that share one link',
}

/** Adds `topology KIND` and `topology convert FILE`. */
export const addTopologyCommands = (root: Command): void => {
  const topology = root.command('topology').description('generates an internet, or converts its file')
  for (const kind of topologyKinds) {
    const command = topology
      .command(kind)
      .description(descriptions[kind])
      .option('--nodes <n>', 'how many', wholeNumber, kind === 'inet' ? 5000 : 100)
      .option('--seed <n>', 'seed of all random numbers', wholeNumber, 1)
      .option('--cross <share>', 'share of the bandwidth of each link that traffic of others takes', share)
    withOutputOptions(command).action(({ nodes, seed, cross, ...output }: GenerateOptions) => {
      checkOutput(output)
      finish(
        generateInternet(kind, nodes, seed, output.meanRtt, cross === undefined ? cross : { share: cross }),
        output,
      )
    })
  }
  const convert = topology
    .command('convert')
    .description('converts a file of another program to another format')
    .argument('<file>')
    .option('--largest-part', 'keeps the largest part of a graph that is in parts')
  withOutputOptions(convert).action((file: string, { largestPart: isLargest, ...output }: ConvertOptions) => {
    checkOutput(output)
    const read = readTopology(file)
    const found = isLargest ? largestPart(read) : read
    finish(output.meanRtt === undefined ? found : withMeanRoundTrip(found, output.meanRtt), output)
  })
}

const withOutputOptions = (command: Command) =>
  command
    .option('--mean-rtt <ms>', 'scales all delays to this mean round trip', aboveZero)
    .option('--out <file>', 'a .json, .graphml, .gml or .inet file to write')
    .option('--svg <file>', 'a picture to write')
    .option('--json', 'prints one JSON object as the last line')

/** Checked before the work, which may take long. */
const checkOutput = ({ out }: OutputOptions): void => {
  if (out !== undefined) writerOf(out)
}

const finish = (topology: Topology, { out, svg, json }: OutputOptions) => {
  const summary = summarise(topology)
  if (out !== undefined) writeTopology(out, topology)
  if (svg !== undefined) writeText(svg, drawTopology(topology, summary))
  if (json) return print(JSON.stringify({ ...summary, out: out ?? null, svg: svg ?? null }))
  const written = [out, svg].filter(path => path !== undefined)
  print([...describeSummary(summary), ...written.map(path => `written: ${path}`)])
}
