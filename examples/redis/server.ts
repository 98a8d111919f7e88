const options = {
  'protected-mode': 'no',
  // Nothing on disk: the first copy goes from memory to memory, and at once.
  save: '',
  'repl-diskless-sync-delay': '0',
  'repl-diskless-load': 'on-empty-db',
  // The server's own timer ticks once a second instead of ten times: each tick is a step.
  hz: '1',
  'dynamic-hz': 'no',
}

/** A server, set up by its command line alone. */
export const server = (name: string, more: Readonly<Record<string, string>> = {}) => {
  const all = Object.entries({ bind: `{{${name}.address}}`, ...options, ...more })
  return { command: ['redis-server', ...all.flatMap(([option, value]) => [`--${option}`, value])], listens: 6379 }
}
