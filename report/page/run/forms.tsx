import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formOf, plain } from '../../../checker/happening/happenings.ts'
import type { SeenRun } from '../../run-data.ts'

/** Asks the run for something. Resolves to its answer; undefined if it was refused, which the page then says. */
export type Request = (path: string, asked: object) => Promise<unknown>

interface Asking {
  readonly seen: SeenRun
  readonly ask: Request
}

/** What `control` can, besides the buttons of nodes. What was typed stays if it is refused. */
export const ControlForms = (asking: Asking) => (
  <section>
    <h2>Do</h2>
    <Now {...asking} />
    <Link {...asking} />
    <Way {...asking} />
    <Plan {...asking} />
    <Add {...asking} />
    <Exec {...asking} />
  </section>
)

/** Buttons, by what they say; the first is also that of the key Enter. */
type Buttons = Readonly<Record<string, () => unknown>>

export const Form = ({ buttons, children }: { readonly buttons: Buttons; readonly children: ComponentChildren }) => {
  const [[first, begin], ...others] = Object.entries(buttons) as [[string, () => unknown], ...[string, () => unknown][]]
  const submit = (event: Event) => {
    event.preventDefault()
    begin()
  }
  return (
    <form onSubmit={submit}>
      {children}
      <button type="submit">{first}</button>
      {others.map(([name, act]) => (
        <button key={name} type="button" onClick={act}>
          {name}
        </button>
      ))}
    </form>
  )
}

/** A field, and what is in it. */
export const useField = (
  label: string,
  placeholder: string,
  { size = 10, list }: { size?: number; list?: string } = {},
) => {
  const [value, set] = useState('')
  const field = (
    <label>
      {label}{' '}
      <input {...{ placeholder, size, list, value }} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </label>
  )
  return [value.trim(), field] as const
}

const Now = ({ ask }: Asking) => {
  const [line, field] = useField('now', 'partition n1,n2 n3', { size: 40, list: 'forms' })
  return (
    <Form buttons={{ do: () => ask('line', { line }) }}>
      {field}
      <datalist id="forms">
        {plain.map(row => (
          <option key={row.does} value={formOf(row)} />
        ))}
      </datalist>
    </Form>
  )
}

/** Fields that are given, as numbers; what is no number is refused by the run. */
const numbers = (fields: Readonly<Record<string, readonly [text: string, unit: number]>>) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, [text, unit]]) => (text === '' ? [] : [[name, Number(text) * unit]])),
  )

const Link = ({ ask }: Asking) => {
  const [ends, link] = useField('link', 'n1, or r1 r2')
  const [delay, delayField] = useField('delay, ms', '20', { size: 4 })
  const [bandwidth, bandwidthField] = useField('Mbit/s', '10', { size: 4 })
  const [loss, lossField] = useField('loss', '0.01', { size: 4 })
  const change = (change: object) => {
    const [one = '', other] = ends.split(/\s+/)
    return ask('act', { does: 'link', link: other === undefined ? one : [one, other], ...change })
  }
  const set = () => change(numbers({ delayMs: [delay, 1], bandwidth: [bandwidth, 1e6], loss: [loss, 1] }))
  const buttons = {
    'set link': set,
    'link down': () => change({ isDown: true }),
    'link up': () => change({ isDown: false }),
    'link as before': () => change({ asBefore: true }),
  }
  return (
    <Form buttons={buttons}>
      {link}
      {delayField}
      {bandwidthField}
      {lossField}
    </Form>
  )
}

const Way = ({ ask }: Asking) => {
  const [from, fromField] = useField('from', 'n1', { size: 5 })
  const [to, toField] = useField('to', 'n2', { size: 5 })
  const [delay, delayField] = useField('more delay, ms', '20', { size: 4 })
  const [loss, lossField] = useField('more loss', '0.01', { size: 4 })
  const set = (setting: object) => ask('act', { does: 'set', ways: [{ from, to, ...setting }] })
  const buttons = {
    'set way': () => set({ pipe: numbers({ delayMs: [delay, 1], loss: [loss, 1] }) }),
    'cut way': () => set({ isCut: true }),
    'way as before': () => set({ isCut: false, pipe: null }),
  }
  return (
    <Form buttons={buttons}>
      {fromField}
      {toField}
      {delayField}
      {lossField}
    </Form>
  )
}

const Plan = ({ seen: { planned }, ask }: Asking) => {
  const [script, set] = useState('')
  return (
    <Form buttons={{ plan: () => ask('plan', { script }) }}>
      <label>
        plan{' '}
        <textarea
          {...{ rows: 3, cols: 40, placeholder: '90s leave n2 kill\n2m join n2', value: script }}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
      </label>
      <ul>
        {planned.map(({ s, text }) => (
          <li key={`${s} ${text}`}>
            {s} s {text}
          </li>
        ))}
      </ul>
    </Form>
  )
}

const Add = ({ ask }: Asking) => {
  const [name, nameField] = useField('new node', 'n9', { size: 5 })
  const [like, likeField] = useField('like', 'n1', { size: 5 })
  return (
    <Form buttons={{ add: () => ask('add', { name, like }) }}>
      {nameField}
      {likeField}
    </Form>
  )
}

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const Exec = ({ ask }: Asking) => {
  const [node, nodeField] = useField('in node', 'n1', { size: 5 })
  const [command, commandField] = useField('run', 'redis-cli ping', { size: 30 })
  const [ended, setEnded] = useState<Ended>()
  const run = async () => setEnded((await ask('exec', { node, command: command.split(/\s+/) })) as Ended | undefined)
  return (
    <Form buttons={{ run }}>
      {nodeField}
      {commandField}
      {ended && (
        <output>
          <pre>{[ended.stdout, ended.stderr].filter(text => text !== '').join('\n')}</pre>
          exit code {ended.exitCode}
        </output>
      )}
    </Form>
  )
}
