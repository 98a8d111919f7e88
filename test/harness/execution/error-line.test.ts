import { execa } from 'execa'
import { expect, test } from 'vitest'
import { errorLineOf } from '../../../harness/execution/error-line.ts'
import { node, printed, python } from '../died.ts'

const lineOfProgram = async (program: string, ...args: readonly string[]) => {
  const { stderr, exitCode } = await execa(program, args, { reject: false })
  expect(exitCode).not.toBe(0)
  return errorLineOf(stderr)
}

test.each(Object.entries(python))('of what Python prints, the error that ended it is found: %s', async (_, program) => {
  expect(await lineOfProgram('python3', '-c', program)).toBe('RuntimeError: the cause')
})

test('a group of errors that ended Python is named', () => {
  const printed = `  + Exception Group Traceback (most recent call last):
  |   File "group.py", line 5, in <module>
  |     asyncio.run(main())
  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "group.py", line 2, in bad
    |     async def bad(): raise RuntimeError('the cause')
    | RuntimeError: the cause
    +------------------------------------
`
  expect(errorLineOf(printed)).toBe('ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)')
})

test('an error that Python ignored did not end it, though nothing else is printed', async () => {
  const program = `
import sys
class Resource:
    def __del__(self): raise ImportError('late')
resource = Resource()
sys.exit(3)`
  expect(await lineOfProgram('python3', '-c', program)).toBeUndefined()
})

test.each(Object.entries(node))('of what Node.js prints, the error that ended it is found: %s', async (_, program) => {
  expect(await lineOfProgram(process.execPath, '-e', program)).toMatch(/^(\w+: )?the cause$/)
})

test.each(Object.entries(printed))('so it is of other runtimes: %s', (_, [output, line]) => {
  expect(errorLineOf(output)).toBe(line)
})

test.each([
  [
    'Node.js, with its cause',
    `node:internal/deps/undici/undici:13510
      Error.captureStackTrace(err);
            ^

TypeError: fetch failed
    at node:internal/deps/undici/undici:13510:13
    at async Server.<anonymous> (/app/shop.js:5:30) {
  [cause]: ConnectTimeoutError: Connect Timeout Error (timeout: 10000ms)
      at onConnectTimeout (node:internal/deps/undici/undici:2602:28) {
    code: 'UND_ERR_CONNECT_TIMEOUT'
  }
}

Node.js v20.20.2`,
    'TypeError: fetch failed, caused by ConnectTimeoutError: Connect Timeout Error (timeout: 10000ms)',
  ],
  [
    'Go',
    'started\npanic: runtime error: index out of range [3]\n\ngoroutine 1 [running]:\nmain.main()\n',
    'panic: runtime error: index out of range [3]',
  ],
  [
    'Rust',
    "thread 'main' panicked at src/main.rs:2:5:\nno\nnote: run with",
    "thread 'main' panicked at src/main.rs:2:5: no",
  ],
  [
    'Python',
    'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File "a.py", line 3, in <module>\n    f()\nValueError: no leader\n',
    'ValueError: no leader',
  ],
  [
    'the JVM',
    'Exception in thread "main" java.lang.RuntimeException: cannot start\n\tat Main.main(Main.java:1)\nCaused by: java.net.BindException: Address in use\n\t... 1 more\n',
    'Exception in thread "main" java.lang.RuntimeException: cannot start, Caused by: java.net.BindException: Address in use',
  ],
  [
    'the JVM, where the program logs its error and ends',
    `2026-11-25 [main] ERROR QuorumPeerMain - Invalid config, exiting abnormally
org.apache.zookeeper.server.quorum.QuorumPeerConfig$ConfigException: Error processing zoo.cfg
\tat org.apache.zookeeper.server.quorum.QuorumPeerConfig.parse(QuorumPeerConfig.java:198)
Caused by: java.lang.IllegalArgumentException: myid file is missing
\tat org.apache.zookeeper.server.quorum.QuorumPeerConfig.setupMyId(QuorumPeerConfig.java:794)
\t... 3 more
Invalid config, exiting abnormally
`,
    'org.apache.zookeeper.server.quorum.QuorumPeerConfig$ConfigException: Error processing zoo.cfg, Caused by: java.lang.IllegalArgumentException: myid file is missing',
  ],
])('the line that says what a program died of is found: %s', (_, output, expected) => {
  expect(errorLineOf(output)).toBe(expected)
})

test('output without an error has no error line', () => {
  expect(errorLineOf('listening on 8080\nbye\n')).toBeUndefined()
})
