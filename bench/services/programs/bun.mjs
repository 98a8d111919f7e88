// Says how often it was asked.
let count = 0
Bun.serve({ port: 8000, hostname: '0.0.0.0', fetch: () => new Response(`${++count} ${new Date().toISOString()}\n`) })
