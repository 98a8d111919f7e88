let logged
/** Logs the state of the process as a line of JSON if it is another one than the last. */
export const log = state => {
  const line = JSON.stringify(state)
  if (line !== logged) console.log(line)
  logged = line
}

/** Makes of what a process does on an input the same with `logState()` after it. */
export const loggedBy =
  logState =>
  act =>
  (...input) => {
    act(...input)
    logState()
  }
