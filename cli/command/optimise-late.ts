import { setFlagsFromString } from 'node:v8'

/**
 * How many bytes of bytecode a function executes before V8 11 (Node.js 20) optimises it: four times its own number. Most
 * checks that find something are over within twenty seconds, and a sixth of that was spent on optimising code that is not
 * executed often enough to pay. Longer ones lose half a second. Newer versions decide otherwise, and have no such flag.
 */
const budget = 264_000

if (Number.parseInt(process.versions.v8, 10) < 12) setFlagsFromString(`--interrupt-budget=${budget}`)
