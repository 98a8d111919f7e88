// Says how often it was asked.
let count = 0
Deno.serve({ port: 8000, hostname: '0.0.0.0' }, () => new Response(`${++count} ${new Date().toISOString()}\n`))
