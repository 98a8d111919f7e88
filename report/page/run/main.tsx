import { type ComponentChildren, render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { RunPageData, SeenRun } from '../../run-data.ts'
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
  const act = async (action: object) => {
    setProblem('')
    await ask('act', action).catch(error => setProblem(String(error.message)))
    await look()
  }
  return (
    <>
      <h1>{system}</h1>
      {isOver && <p role="status">The run is over.</p>}
      {problem !== '' && <p role="alert">{problem}</p>}
      {seen && (
        <main>
          <Figures seen={seen} />
          <Nodes seen={seen} act={act} />
          <Cuts seen={seen} act={act} />
          <Over title="nodes that are up" seen={seen} column="up" />
          <Over title="properties that do not hold" seen={seen} column="violated" />
          <Topology seen={seen} />
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
type Act = (action: object) => Promise<void>

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

/** What a node can be told, by whether it is up. */
const verbs = {
  up: [
    ['kill', { does: 'leave', manner: 'kill' }],
    ['stop', { does: 'leave', manner: 'stop' }],
    ['cut', { does: 'leave', manner: 'cut' }],
    ['pause', { does: 'pause' }],
    ['resume', { does: 'resume' }],
  ],
  down: [['join', { does: 'join' }]],
} as const

const Nodes = ({ seen: { nodes }, act }: Shown & { readonly act: Act }) => (
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
        const state = !isAlive ? 'down' : isCut ? 'cut' : 'up'
        return (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>{address}</td>
            <td class={state}>{state}</td>
            <td>
              {verbs[state === 'up' ? 'up' : 'down'].map(([verb, action]) => (
                <button
                  key={verb}
                  type="button"
                  aria-label={`${verb} ${name}`}
                  onClick={() => act({ ...action, node: name })}
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

const Cuts = ({ seen: { groups, ways, links }, act }: Shown & { readonly act: Act }) => {
  const [written, setWritten] = useState('')
  const cut = (event: Event) => {
    event.preventDefault()
    const asked = written
      .trim()
      .split(/\s+/)
      .map(group => group.split(','))
    void act({ does: 'partition', groups: asked })
  }
  return (
    <section>
      <h2>Partition</h2>
      <p>{groups === null ? 'none' : groups.map(group => group.join(', ')).join(' | ')}</p>
      <form onSubmit={cut}>
        <input
          aria-label="groups"
          placeholder="n1,n2 n3"
          value={written}
          onInput={({ currentTarget }) => setWritten(currentTarget.value)}
        />
        <button type="submit">partition</button>
        <button type="button" onClick={() => act({ does: 'heal' })}>
          heal
        </button>
      </form>
      {[...ways, ...links].map(line => (
        <p key={line}>{line}</p>
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

/** The topology, and on it the nodes. */
const Topology = ({ seen: { nodes } }: Shown) => {
  if (map === null) return null
  return (
    <figure>
      <figcaption>topology</figcaption>
      <svg viewBox="0 0 640 640" class="map" role="img" aria-label="topology">
        {map.lines.map(({ d, colour, width, opacity }) => (
          <path key={`${colour} ${width}`} d={d} stroke={colour} stroke-width={width} stroke-opacity={opacity} />
        ))}
        {nodes.map(({ name, isAlive, isCut }) => {
          const [x, y] = map.places[name] ?? [0, 0]
          return (
            <g key={name} class={!isAlive ? 'down' : isCut ? 'cut' : 'up'}>
              <circle cx={x} cy={y} r={6} />
              <text x={x + 8} y={y + 4}>
                {name}
              </text>
            </g>
          )
        })}
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
          {loads.map(({ link, bytes, load }) => (
            <tr key={link}>
              <th scope="row">{link}</th>
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
