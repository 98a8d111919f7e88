/** Programs that end by an error, named `the cause`, and print other errors before and while they end. */
export const python: Readonly<Record<string, string>> = {
  'a destructor raises at the end': `
class Resource:
    def __del__(self): raise ImportError('late')
resource = Resource()
raise RuntimeError('the cause')`,
  'handlers of the end raise and log, and others were survived': `
import atexit, logging
def bye(): raise ImportError('late')
def log():
    try: raise OSError('late')
    except OSError: logging.exception('while ending')
atexit.register(bye)
atexit.register(log)
def fail(): raise RuntimeError('the cause')
try: raise ValueError('survived')
except ValueError: logging.exception('survived')
fail()`,
  'a thread failed before, and the error was raised from another': `
import threading
thread = threading.Thread(target=lambda: 1 / 0)
thread.start()
thread.join()
try: {}['x']
except KeyError as error: raise RuntimeError('the cause') from error`,
  'another error was raised while one was handled': `
try: {}['x']
except KeyError: raise RuntimeError('the cause')`,
  'a task failed before': `
import asyncio
async def bad(): raise ImportError('survived')
async def main():
    asyncio.create_task(bad())
    await asyncio.sleep(0.01)
    raise RuntimeError('the cause')
asyncio.run(main())`,
  'the hook for errors fails': `
import sys
def hook(*_): raise ImportError('late')
sys.excepthook = hook
raise RuntimeError('the cause')`,
}

export const node: Readonly<Record<string, string>> = {
  'a handler of the end prints an error': `
process.on('exit', () => console.error(new TypeError('late')))
console.error(new RangeError('survived'))
throw new Error('the cause')`,
  'a handler of the end throws': `
process.on('exit', () => { throw new TypeError('late') })
throw new Error('the cause')`,
  'a rejection nobody handled, of a class of its own': `
class Boom extends Error { name = 'Boom' }
Promise.reject(new Boom('the cause'))`,
  'a string was thrown': "throw 'the cause'",
  'several errors in one': "throw new AggregateError([new Error('one')], 'the cause')",
}

/** Printed by Go 1.26, OpenJDK 17 and Rust 1.95. */
export const printed: Readonly<Record<string, readonly [output: string, line: string]>> = {
  'Go, where a deferred function panics': [
    '2026/11/29 03:53:33 survived survived\npanic: the cause\n\tpanic: late\n\ngoroutine 1 [running]:\nmain.main.func2()\n\t/g1/main.go:5 +0x25\n',
    'panic: the cause',
  ],
  'Go, where a recovered panic goes on as another one': [
    'panic: assignment to entry in nil map [recovered]\n\tpanic: again: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main.func1()\n\t/g2/main.go:4 +0x5b\n',
    'panic: assignment to entry in nil map',
  ],
  'Go, where a recovered panic goes on': [
    'panic: the cause [recovered, repanicked]\n\ngoroutine 1 [running]:\nmain.main.func1()\n',
    'panic: the cause',
  ],
  'the JVM, where another thread failed before and a handler of the end fails': [
    `Exception in thread "worker" java.lang.IllegalStateException: survived
\tat M.lambda$main$0(M.java:3)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Exception in thread "main" java.lang.RuntimeException: the cause
\tat M.main(M.java:5)
\tSuppressed: java.lang.Exception: suppressed
\t\t... 1 more
Caused by: java.io.IOException: root
\t... 1 more
Exception in thread "Thread-0" java.lang.UnsupportedOperationException: late
\tat M.lambda$main$1(M.java:4)
\tat java.base/java.lang.Thread.run(Thread.java:840)
Caused by: java.lang.RuntimeException: late root
\t... 2 more
`,
    'Exception in thread "main" java.lang.RuntimeException: the cause, Caused by: java.io.IOException: root',
  ],
  'Rust, where a destructor panics': [
    `
thread 'main' (21058) panicked at r1.rs:2:49:
survived
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace

thread 'main' (21058) panicked at r1.rs:2:82:
the cause
stack backtrace:
   0: std::panicking::begin_panic::<&str>
             at /rustc/59807616e1fa/library/std/src/panicking.rs:761:5
   1: r1::main

thread 'main' (21058) panicked at r1.rs:1:50:
late
stack backtrace:
   0:     0x557c7242dc2a - std::backtrace_rs::backtrace::libunwind::trace

thread 'main' (21058) panicked at /rustc/59807616e1fa/library/core/src/panicking.rs:233:5:
panic in a destructor during cleanup
thread caused non-unwinding panic. aborting.
`,
    "thread 'main' (21058) panicked at r1.rs:2:82: the cause",
  ],
  'Rust, where a thread that was waited for panicked': [
    `
thread '<unnamed>' (21074) panicked at r2.rs:1:35:
the cause

thread 'main' (21073) panicked at r2.rs:1:63:
called \`Result::unwrap()\` on an \`Err\` value: Any { .. }
`,
    "thread '<unnamed>' (21074) panicked at r2.rs:1:35: the cause",
  ],
  'Rust, where another thread panicked before': [
    `
thread 'tokio-rt-worker' (21074) panicked at r2.rs:1:35:
survived

thread 'main' (21104) panicked at r4.rs:2:53:
the cause
bye
`,
    "thread 'main' (21104) panicked at r4.rs:2:53: the cause",
  ],
  'Rust, where main returns the error': [
    'Error: Os { code: 2, kind: NotFound, message: "No such file or directory" }\n',
    'Error: Os { code: 2, kind: NotFound, message: "No such file or directory" }',
  ],
}
