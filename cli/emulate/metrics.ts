import type { Run } from '../../harness/emulation/run.ts'

/** Metrics in the text format of Prometheus, version 0.0.4. */
export const metricsOf = ({ counts, nodes, measurements, timed, steering, prediction }: Run): string => {
  const { forwarded, bytes, ...dropped } = counts
  const calls = (isOk: boolean) => timed.filter(call => call.isOk === isOk).length
  return [
    ...metric('packets_forwarded_total', 'counter', 'Packets that came through.', [['', forwarded]]),
    ...metric('bytes_forwarded_total', 'counter', 'Bytes of these packets.', [['', bytes]]),
    ...metric(
      'packets_dropped_total',
      'counter',
      'Packets that did not, by the reason.',
      Object.entries(dropped).map(([reason, count]) => [labels({ reason }), count] as const),
    ),
    ...metric(
      'node_up',
      'gauge',
      'Whether a node is up.',
      nodes.map(({ name, isAlive }) => [labels({ node: name }), Number(isAlive)] as const),
    ),
    ...metric('looks_total', 'counter', 'Looks at the state of all nodes.', [['', measurements.looks.length]]),
    ...metric(
      'looks_without_property_total',
      'counter',
      'Looks in which a property did not hold.',
      measurements.properties.map(({ name, looksWithout }) => [labels({ property: name }), looksWithout] as const),
    ),
    ...metric('faults_total', 'counter', 'Faults that happened.', [['', measurements.recoveries.length]]),
    ...metric('calls_total', 'counter', 'Calls of clients that are over.', [
      [labels({ outcome: 'ok' }), calls(true)],
      [labels({ outcome: 'failed' }), calls(false)],
    ]),
    ...(steering
      ? metric(
          'steering_total',
          'counter',
          'What prediction and steering did.',
          Object.entries(steering).map(([what, count]) => [labels({ what }), count] as const),
        )
      : []),
    ...(prediction ? metricsOfPrediction(prediction) : []),
    '',
  ].join('\n')
}

const metricsOfPrediction = ({
  rounds,
  transitions,
  predicted,
  behindMs,
}: NonNullable<Run['prediction']>): string[] => [
  ...metric('prediction_rounds_total', 'counter', 'Rounds of prediction.', [['', rounds]]),
  ...metric('prediction_steps_total', 'counter', 'Steps in memory that were predicted.', [['', transitions]]),
  ...metric('predicted_total', 'counter', 'Violations that were predicted.', [['', predicted]]),
  ...metric('predictor_behind_seconds', 'gauge', 'By how much the predictor is behind the run.', [
    ['', behindMs / 1000],
  ]),
]

const metric = (
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  values: readonly (readonly [labels: string, value: number])[],
): string[] => [
  `# HELP lastnail_${name} ${help}`,
  `# TYPE lastnail_${name} ${type}`,
  ...values.map(([labels, value]) => `lastnail_${name}${labels} ${value}`),
]

const labels = (values: Readonly<Record<string, string>>): string =>
  `{${Object.entries(values)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(',')}}`
