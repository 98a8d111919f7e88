import { type ComponentChildren, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { nodeVerbs } from '../../../checker/happening/happenings.ts'
import type { RunPageData, SeenRun } from '../../run-data.ts'
import { ControlForms, Form, type Request, useField } from './forms.tsx'
import { conditionOf, TopologyPicture } from './topology.tsx'
import './run.css'

const { system, token, map } = JSON.parse(document.getElementById('data')!.textContent!) as RunPageData

/** How often the page asks for what is seen of the run, in milliseconds. */
const askEveryMs = 500

const ask = async <Answer,>(name: string, asked?: object): Promise<Answer> => {
  const response = await fetch(`/${name}`, {
    ...(asked && { method: 'POST', body: JSON.stringify(asked) }),
    headers: { authorization: `Bearer ${token}` },
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(answer.error)
  return answer
}

/** What the run shows now, and a way to have something happen in it. */
const RunPage = () => {
  const [seen, setSeen] = useState<SeenRun>()
  const [problem, setProblem] = useState('')
  const [isOver, setOver] = useState(false)
  const look = () =>
    ask<SeenRun>('seen').then(setSeen, error => {
      // The server ends with the run.
      if (error instanceof TypeError) setOver(true)
      else setProblem(String(error.message))
    })
  useEffect(() => {
    void look()
    const timer = setInterval(look, askEveryMs)
    return () => clearInterval(timer)
  }, [])
  const request: Request = async (path, asked) => {
    setProblem('')
    const answer = await ask(path, asked).catch(error => setProblem(String(error.message)))
    await look()
    return answer
  }
  return (
    <>
      <h1>{system}</h1>
      {isOver && <p role="status">The run is over.</p>}
      {problem !== '' && <p role="alert">{problem}</p>}
      {seen && (
        <main>
          <Figures seen={seen} />
          {map && <TopologyPicture map={map} seen={seen} />}
          <Nodes seen={seen} ask={request} />
          <Cuts seen={seen} ask={request} />
          <ControlForms seen={seen} ask={request} />
          <Over title="nodes that are up" seen={seen} column="up" />
          <Over title="properties that do not hold" seen={seen} column="violated" />
          <Loads seen={seen} />
          <Happened seen={seen} />
        </main>
      )}
    </>
  )
}

interface Shown {
  readonly seen: SeenRun
}

const Figures = ({ seen: { elapsedMs, forwarded, bytes, dropped, calls } }: Shown) => (
  <dl>
    <Figure name="time of the run">{(elapsedMs / 1000).toFixed(1)} s</Figure>
    <Figure name="packets">{forwarded}</Figure>
    <Figure name="MB">{(bytes / 1e6).toFixed(2)}</Figure>
    <Figure name="dropped">{dropped}</Figure>
    <Figure name="calls">{calls.ok}</Figure>
    <Figure name="failed calls">{calls.failed}</Figure>
  </dl>
)

const Figure = ({ name, children }: { readonly name: string; readonly children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** What a node can be told, by whether it is up. `restart` is the former name of another one. */
const verbsOf = (state: string) =>
  nodeVerbs.filter(({ verb, says }) => verb !== 'restart' && (says.does === 'join') !== (state === 'up'))

const Nodes = ({ seen: { nodes }, ask }: Shown & { readonly ask: Request }) => (
  <table>
    <thead>
      <tr>
        <th>node</th>
        <th>address</th>
        <th>is</th>
        <th>do</th>
      </tr>
    </thead>
    <tbody>
      {nodes.map(({ name, address, isAlive, isCut }) => {
        const state = conditionOf({ isAlive, isCut })
        return (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{address}</td>
            <td class={state}>{state}</td>
            <td>
              {verbsOf(state).map(({ verb, about, says }) => (
                <button
                  key={verb}
                  type="button"
                  title={about}
                  aria-label={`${verb} ${name}`}
                  onClick={() => ask('act', { ...says, node: name })}
                >
                  {verb}
                </button>
              ))}
            </td>
          </tr>
        )
      })}
    </tbody>
  </table>
)

const Cuts = ({ seen: { groups, ways, links }, ask }: Shown & { readonly ask: Request }) => {
  const [written, field] = useField('groups', 'n1,n2 n3')
  const buttons = {
    partition: () => ask('line', { line: `partition ${written}` }),
    heal: () => ask('act', { does: 'heal' }),
  }
  return (
    <section>
      <h2>Partition</h2>
      <p>{groups === null ? 'none' : groups.map(group => group.join(', ')).join(' | ')}</p>
      <Form buttons={buttons}>{field}</Form>
      {[...ways, ...links].map(({ text }) => (
        <p key={text}>{text}</p>
      ))}
    </section>
  )
}

/** A series over the time of the run. */
const Over = ({
  title,
  seen: { looks },
  column,
}: Shown & { readonly title: string; readonly column: 'up' | 'violated' }) => {
  const [last] = looks.slice(-1)
  const most = Math.max(1, ...looks.map(look => look[column]))
  const [begin, end] = [looks[0]?.s ?? 0, last?.s ?? 1]
  const x = (s: number) => ((s - begin) / (end - begin || 1)) * 600
  const line = looks.map(look => `H${x(look.s).toFixed(1)}V${(100 - (look[column] / most) * 100).toFixed(1)}`)
  return (
    <figure>
      <figcaption>
        {title}: {last?.[column] ?? '—'}
      </figcaption>
      <svg viewBox="0 -2 600 104" preserveAspectRatio="none" role="img" aria-label={title}>
        <path d={`M0 100${line.join('')}`} />
      </svg>
    </figure>
  )
}

/** What the busiest links carried between the last two looks. */
const Loads = ({ seen: { loads } }: Shown) => {
  if (loads.length === 0) return null
  return (
    <section>
      <h2>Links</h2>
      <table>
        <thead>
          <tr>
            <th>link</th>
            <th>kB</th>
            <th>load</th>
          </tr>
        </thead>
        <tbody>
          {loads.map(({ from, to, bytes, load }) => (
            <tr key={`${from} ${to}`}>
              <th scope="row">
                {from}→{to}
              </th>
              <td>{(bytes / 1000).toFixed(1)}</td>
              <td>{load === null ? 'no limit' : `${(100 * load).toFixed(0)} %`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

const Happened = ({ seen: { happenings } }: Shown) => (
  <section>
    <h2>Happened</h2>
    <ol>
      {happenings.map(({ s, label }) => (
        <li key={`${s} ${label}`}>
          {s.toFixed(2)} s {label}
        </li>
      ))}
    </ol>
  </section>
)

render(<RunPage />, document.getElementById('app')!)
