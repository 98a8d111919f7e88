/** Opens a database in its directory, by the release in SITE, and says whether it could. */
const { ClassicLevel } = require(require.resolve('classic-level', { paths: [process.env.SITE] }))

const say = state => console.log(JSON.stringify(state))

new ClassicLevel('data').open().then(
  () => say({ opened: true }),
  error => say({ opened: false, error: String(error.cause) }),
)
setInterval(() => undefined, 60_000)
