/**
 * The C library, through koffi: the few calls that Node.js lacks. All act on the calling thread.
 *
 * A call returns what C returns. `requireSuccess` turns -1 into an Error with the call and its errno.
 */
import { constants } from 'node:os'
import { getSystemErrorMap } from 'node:util'
import koffi from 'koffi'

/** The symbols of this process, which include the C library's (so that glibc and musl both work). */
export const libc = koffi.load(null)

/** Error numbers by name: `errno.EAGAIN`. */
export const errno = constants.errno

/** The errno of the last call on this thread. */
export const lastErrno = (): number => koffi.errno()

export const open: (path: string, flags: number, mode: number) => number = libc.func(
  'int open(const char *path, int flags, int mode)',
)
export const lseek = libc.func('long lseek(int fd, long offset, int whence)')
export const close = libc.func('int close(int fd)')
export const read: (fd: number, into: Buffer, length: number) => number = libc.func(
  'long read(int fd, void *into, size_t length)',
)
export const pread: (fd: number, into: Buffer, length: number, offset: number) => number = libc.func(
  'long pread(int fd, void *into, size_t length, long offset)',
)
export const write: (fd: number, bytes: Buffer, length: number) => number = libc.func(
  'long write(int fd, void *bytes, size_t length)',
)
export const ioctl: (fd: number, request: number, argument: Buffer) => number = libc.func(
  'int ioctl(int fd, unsigned long request, void *argument)',
)
export const unshare: (flags: number) => number = libc.func('int unshare(int flags)')
export const setns: (fd: number, type: number) => number = libc.func('int setns(int fd, int type)')
export const socket: (domain: number, type: number, protocol: number) => number = libc.func(
  'int socket(int domain, int type, int protocol)',
)
export const send: (fd: number, bytes: Buffer, length: number, flags: number) => number = libc.func(
  'long send(int fd, void *bytes, size_t length, int flags)',
)
export const recv: (fd: number, into: Buffer, length: number, flags: number) => number = libc.func(
  'long recv(int fd, void *into, size_t length, int flags)',
)
export const mount: (
  source: string | null,
  target: string,
  type: string | null,
  flags: number,
  data: string | null,
) => number = libc.func(
  'int mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data)',
)
export const umount2: (target: string, flags: number) => number = libc.func(
  'int umount2(const char *target, int flags)',
)
/** Any system call by number, with six integer arguments. Unused ones are 0. */
export const syscall: (number: number, a: number, b: number, c: number, d: number, e: number, f: number) => number =
  libc.func('long syscall(long number, long a, long b, long c, long d, long e, long f)')

export const CLONE_FS = 0x0000_0200
export const CLONE_NEWNS = 0x0002_0000
export const CLONE_NEWCGROUP = 0x0200_0000
export const CLONE_NEWUTS = 0x0400_0000
export const CLONE_NEWIPC = 0x0800_0000
export const CLONE_NEWPID = 0x2000_0000
export const CLONE_NEWNET = 0x4000_0000

export const AF_INET = 2
export const AF_INET6 = 10
/** In place of a directory's descriptor: a path counts from the working directory. */
export const AT_FDCWD = -100

/** A failed call of the C library. The fields are those of Node's own system errors. */
export class SystemError extends Error {
  override readonly name = 'SystemError'
  /** `EPERM` */
  readonly code: string
  readonly errno: number
  /** `setns` */
  readonly syscall: string

  constructor(call: string, number: number) {
    const [code, meaning] = getSystemErrorMap().get(-number) ?? [`errno ${number}`, 'unknown error']
    super(`${call}: ${code} (${meaning})`)
    this.code = code
    this.errno = number
    this.syscall = call
  }
}

/**
 * Returns `result` unless it is -1.
 *
 * @param call the call as the error should name it: `setns`, `open /dev/net/tun`
 *
 * @throws SystemError with the errno of the last call: `setns: EPERM (operation not permitted)`
 */
export const requireSuccess = (call: string, result: number): number => {
  if (result === -1) throw new SystemError(call, lastErrno())
  return result
}

export const getsockopt = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])
export const setsockopt = libc.func('int setsockopt(int fd, int level, int name, void *value, unsigned int length)')

/** Writes seconds and nanoseconds, eight bytes each. */
export const clockGettime: (clock: number, time: BigInt64Array) => number = libc.func(
  'int clock_gettime(int clock, void *time)',
)

export const prctl = libc.func('int prctl(int option, unsigned long value)')
/** The signal that the kernel sends when the thread that made this process ends. */
export const PR_SET_PDEATHSIG = 1

/** Repeats a call as long as a signal to this process, such as one of a profiler, interrupts it. */
export const untilDone = (call: () => number): number => {
  for (;;) {
    const result = call()
    if (result !== -1 || lastErrno() !== errno.EINTR) return result
  }
}

/**
 * Gives memory that was freed back to the kernel. Without this, an allocator keeps what lies between pieces that are still in use: after
 * many copies of memory were made and freed, that is several times what is in use. A C library other than glibc does this by itself.
 */
export const giveBackMemory = (): void => {
  trim?.(0)
}

const trim = ((): ((pad: number) => number) | undefined => {
  try {
    return libc.func('int malloc_trim(size_t pad)')
  } catch {
    return undefined
  }
})()

const pipe2 = libc.func('int pipe2(void *ends, int flags)')
const closeOnExec = 0o2000000

/** Our own pipe, which no program that is started inherits. */
export const pipe = () => {
  const ends = Buffer.alloc(8)
  requireSuccess('pipe2', pipe2(ends, closeOnExec))
  return { readEnd: ends.readInt32LE(0), writeEnd: ends.readInt32LE(4) }
}
