import type { RecordedStep } from '../../checker/trace/trace.ts'
import { onOneLine } from '../model/changes.ts'
import type { ShownExecution } from '../model/execution.ts'
import { Named } from './names.tsx'

interface GlanceProps {
  readonly execution: ShownExecution
  readonly step: number
  readonly recorded: RecordedStep
}

/** The states of all nodes after a step, one on each line. Nodes that were never observed are left out. */
export const Glance = ({ execution, step, recorded }: GlanceProps) => {
  const changed = new Set(recorded.states.map(({ node }) => node))
  const rows = execution.nodes.map(node => ({
    node,
    isDown: execution.isDownAfter(node, step),
    state: execution.stateAfter(node, step),
  }))
  if (rows.every(({ isDown, state }) => !isDown && state === undefined)) return null
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must be able to focus it
    <section class="glance" aria-label="States after this step" tabIndex={0}>
      <table>
        <caption>All nodes after this step</caption>
        <tbody>
          {rows.map(({ node, isDown, state }) => (
            <tr key={node} class={changed.has(node) ? 'changed' : ''}>
              <th scope="row">{node}</th>
              <td>{isDown ? <em>down</em> : state === undefined ? <em>no state</em> : <Text value={state} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Text = ({ value }: { value: unknown }) => (
  <code>
    <Named text={onOneLine(value)} />
  </code>
)
