let logged
/** Logs the state of the process as a line of JSON if it is another one than the last. */
export const log = state => {
  const line = JSON.stringify(state)
  if (line !== logged) console.log(line)
  logged = line
}
