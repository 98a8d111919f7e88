import type { PipeSettings } from '../../proxy/forwarding/pipe.ts'
import { type LinkChange, shownLink } from './links.ts'
import type { Steer, TimedAction, WaySetting } from './timing.ts'

/** An action without its time. */
export type Happening<Action = TimedAction> = Action extends unknown ? Omit<Action, 'atMs'> : never

/** Whether a client does it from outside. Properties of the network do not apply to clients. */
export const isVisit = ({ does }: Happening): boolean => does === 'connect' || does === 'send' || does === 'end'

/** Whether it takes something away; false if it gives something back. */
export const isHarm = (action: Happening): boolean => {
  switch (action.does) {
    case 'join':
    case 'heal':
    case 'exec':
      return false
    case 'link':
      return action.asBefore !== true && action.isDown !== false
    case 'set':
      return action.ways.some(({ isCut, pipe }) => isCut === true || (pipe !== undefined && pipe !== null))
    default:
      return true
  }
}

/** The node that the action concerns, if it concerns one. */
export const nodeOf = (action: Happening): string | undefined => ('node' in action ? action.node : undefined)

/** The action's label in a schedule. */
export const labelOf = (action: Happening): string => {
  switch (action.does) {
    case 'join':
      return `join ${action.node}`
    case 'leave':
      return `leave ${action.node} ${action.manner}`
    case 'restart':
      return `leave ${action.node} kill, join`
    case 'partition':
      return `part ${action.groups.map(group => group.join(',')).join(' ')}`
    case 'heal':
      return 'heal all'
    case 'reset':
      return `reset ${action.node} ${action.peer}`
    case 'connect':
      return `outside ${action.visitor} connects to ${action.node}:${action.port}`
    case 'send':
      return `outside ${action.visitor} sends ${Buffer.byteLength(action.data, 'base64')} bytes to ${action.node}`
    case 'end':
      return `outside ${action.visitor} ${action.how === 'end' ? 'ends' : 'resets'} its connection to ${action.node}`
    case 'exec':
      return `exec ${action.node} ${action.command.join(' ')}`
    case 'link':
      return `link ${describeLink(action)}`
    case 'set':
      return `set ${action.ways.map(describeWay).join('; ')}`
    case 'steer':
      return `steer ${steeredBy(action)}`
  }
}

/** Describes the action in a sentence. */
export const sentenceOf = (action: Happening): string => {
  switch (action.does) {
    case 'join':
      return `${action.node} joins`
    case 'leave':
      return `${action.node} leaves (${action.manner})`
    case 'restart':
      return `${action.node} restarts`
    case 'partition':
      return `partition ${action.groups.map(group => group.join(',')).join(' ')}`
    case 'heal':
      return 'heal'
    case 'reset':
      return `connections of ${action.node} and ${action.peer} are reset`
    case 'exec':
      return `${action.command.join(' ')} runs in ${action.node}`
    case 'link':
      return `link ${describeLink(action)}`
    case 'set':
      return action.ways.map(describeWay).join('; ')
    case 'steer':
      return describeSteer(action)
    case 'connect':
    case 'send':
    case 'end':
      return labelOf(action)
  }
}

/** The shortest words for what steering does. A label begins with a known word, so that it can be read back. */
const steeredBy = (action: Steer): string => {
  switch (action.how) {
    case 'lose':
    case 'break':
      return `${action.how} ${action.message}`
    case 'pause':
      return `pause ${action.node} for ${action.forMs} ms`
    case 'wait':
      return `wait ${action.client} for ${action.forMs} ms`
  }
}

/** What steering does, as a sentence. */
export const describeSteer = (action: Steer): string => {
  switch (action.how) {
    case 'lose':
      return `${action.message} is lost`
    case 'break':
      return `the connection of ${action.message} is reset in its place`
    case 'pause':
      return `${action.node} stands still for ${action.forMs} ms`
    case 'wait':
      return `${action.client} waits for ${action.forMs} ms`
  }
}

const describeLink = ({ link, asBefore, isDown, ...change }: LinkChange): string => {
  const { delayMs, jitterMs, bandwidth, loss, queue, cross } = change
  const set = Object.entries({ delayMs, jitterMs, bandwidth, loss, queue, cross }).filter(
    ([, value]) => value !== undefined,
  )
  const laid = set.length === 0 ? [] : [settingsOf(Object.fromEntries(set))]
  return [
    shownLink(link),
    [...(asBefore ? ['as it was'] : []), ...(isDown === undefined ? [] : [isDown ? 'down' : 'up']), ...laid].join(', '),
  ].join(' ')
}

const describeWay = ({ from, to, isCut, pipe }: WaySetting): string => {
  const cut = isCut === undefined ? [] : [isCut ? 'cut' : 'joined']
  const laid = pipe === undefined ? [] : [pipe === null ? 'as it was' : settingsOf(pipe)]
  return `${from}→${to} ${[...cut, ...laid].join(', ')}`
}

const settingsOf = (pipe: Partial<PipeSettings>): string =>
  Object.entries(pipe)
    .map(([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : value}`)
    .join(' ')
