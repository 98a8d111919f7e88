import { expect, test } from 'vitest'
import { systemCalls } from '../../../harness/hold/calls/system-calls.ts'
import { type SyscallName, syscallNumber } from '../../../linux/syscall-number.ts'
import { compile, hasCompiler, heldOutput } from './program.ts'

/**
 * How a program makes each call that is held or native, in C: `$(…)` makes the call with these arguments and says what
 * came of it. Each is made by a process of its own, in a directory of its own that has a file `f` with eight bytes in it.
 */
const rows: { readonly [Name in SyscallName]?: string } = {
  // Files
  read: '$(file(), buffer, 8); show(buffer);',
  write: '$(file(), "written", 7);',
  close: '$(file()); $(77);',
  lseek: '$(file(), 2, SEEK_END);',
  pread64: '$(file(), buffer, 4, 2); show(buffer);',
  pwrite64: '$(file(), "xy", 2, 3);',
  readv: 'struct iovec v = {buffer, 8}; $(file(), &v, 1); show(buffer);',
  writev: 'struct iovec v = {"abc", 3}; $(file(), &v, 1);',
  preadv: 'struct iovec v = {buffer, 4}; $(file(), &v, 1, 1, 0); show(buffer);',
  pwritev: 'struct iovec v = {"abc", 3}; $(file(), &v, 1, 1, 0);',
  preadv2: 'struct iovec v = {buffer, 4}; $(file(), &v, 1, 1, 0, 0); show(buffer);',
  pwritev2: 'struct iovec v = {"abc", 3}; $(file(), &v, 1, 1, 0, 0);',
  access: '$("f", R_OK); $("none", R_OK);',
  faccessat: '$(AT_FDCWD, "f", R_OK);',
  faccessat2: '$(AT_FDCWD, "f", R_OK, 0);',
  sendfile: 'int to = open("to", O_RDWR | O_CREAT, 0600); $(to, file(), 0, 8);',
  copy_file_range: 'int to = open("to", O_RDWR | O_CREAT, 0600); $(file(), 0, to, 0, 8, 0);',
  flock: '$(file(), 2);',
  truncate: '$("f", 3);',
  ftruncate: '$(file(), 3);',
  fallocate: '$(file(), 0, 0, 64);',
  fadvise64: '$(file(), 0, 8, 0);',
  readahead: '$(file(), 0, 8);',
  cachestat: 'long range[2] = {0, 8}; $(file(), range, buffer, 0);',
  getdents: 'int d = open(".", O_RDONLY); $(d, buffer, sizeof buffer);',
  getdents64: 'int d = open(".", O_RDONLY); $(d, buffer, sizeof buffer);',
  getcwd: '$(buffer, sizeof buffer); show(buffer);',
  chdir: '$("/tmp");',
  fchdir: 'int d = open("/tmp", O_RDONLY); $(d);',
  rename: '$("f", "g");',
  renameat: '$(AT_FDCWD, "f", AT_FDCWD, "g");',
  renameat2: '$(AT_FDCWD, "f", AT_FDCWD, "g", 0);',
  mkdir: '$("d", 0755); $("d", 0755);',
  mkdirat: '$(AT_FDCWD, "d", 0755);',
  rmdir: 'mkdir("d", 0700); $("d");',
  creat: '$("made", 0600);',
  link: '$("f", "hard");',
  linkat: '$(AT_FDCWD, "f", AT_FDCWD, "hard", 0);',
  unlink: '$("f");',
  unlinkat: '$(AT_FDCWD, "f", 0);',
  symlink: '$("f", "soft");',
  symlinkat: '$("f", AT_FDCWD, "soft");',
  readlink: 'symlink("f", "soft"); $("soft", buffer, 9); show(buffer);',
  readlinkat: 'symlink("f", "soft"); $(AT_FDCWD, "soft", buffer, 9);',
  chmod: '$("f", 0600);',
  fchmod: '$(file(), 0600);',
  fchmodat: '$(AT_FDCWD, "f", 0600);',
  fchmodat2: '$(AT_FDCWD, "f", 0600, 0);',
  chown: '$("f", 1, 1);',
  fchown: '$(file(), 1, 1);',
  lchown: '$("f", 1, 1);',
  fchownat: '$(AT_FDCWD, "f", 1, 1, 0);',
  umask: '$(027); $(022);',
  utime: '$("f", 0);',
  utimes: '$("f", 0);',
  futimesat: '$(AT_FDCWD, "f", 0);',
  utimensat: '$(AT_FDCWD, "f", 0, 0);',
  mknod: '$("fifo", S_IFIFO | 0600, 0);',
  mknodat: '$(AT_FDCWD, "fifo", S_IFIFO | 0600, 0);',
  openat2: 'long how[3] = {O_RDONLY, 0, 0}; $(AT_FDCWD, "f", how, sizeof how);',
  open: '$("f", O_RDONLY); $("none", O_RDONLY);',
  openat: '$(AT_FDCWD, "f", O_RDONLY);',
  name_to_handle_at: 'int *handle = (int *)buffer, id; handle[0] = 128; $(AT_FDCWD, "f", handle, &id, 0);',
  open_by_handle_at:
    'int *handle = (int *)buffer, id; handle[0] = 128; syscall(NR_name_to_handle_at, AT_FDCWD, "f", handle, &id, 0); $(open("/tmp", O_RDONLY), handle, O_RDONLY);',
  stat: '$("f", buffer); time_of(buffer);',
  lstat: '$("f", buffer); time_of(buffer);',
  fstat: '$(file(), buffer); time_of(buffer);',
  newfstatat: '$(AT_FDCWD, "f", buffer, 0); time_of(buffer);',
  statx: '$(AT_FDCWD, "f", 0, 0x7ff, buffer);',
  statfs: '$("/tmp", buffer);',
  fstatfs: '$(file(), buffer);',
  getxattr: 'setxattr("f", "user.a", "1", 1, 0); $("f", "user.a", buffer, 9);',
  lgetxattr: '$("f", "user.b", buffer, 9);',
  fgetxattr: '$(file(), "user.b", buffer, 9);',
  getxattrat: 'long args[2] = {(long)buffer, 9}; $(AT_FDCWD, "f", 0, "user.b", args, sizeof args);',
  listxattr: '$("f", buffer, 9);',
  llistxattr: '$("f", buffer, 9);',
  flistxattr: '$(file(), buffer, 9);',
  listxattrat: '$(AT_FDCWD, "f", 0, buffer, 9);',
  setxattr: '$("f", "user.a", "1", 1, 0);',
  lsetxattr: '$("f", "user.a", "1", 1, 0);',
  fsetxattr: '$(file(), "user.a", "1", 1, 0);',
  setxattrat: 'long args[2] = {(long)"1", 1}; $(AT_FDCWD, "f", 0, "user.a", args, sizeof args);',
  removexattr: '$("f", "user.b");',
  lremovexattr: '$("f", "user.b");',
  fremovexattr: '$(file(), "user.b");',
  removexattrat: '$(AT_FDCWD, "f", 0, "user.b");',
  file_getattr: '$(AT_FDCWD, "f", buffer, 24, 0);',
  file_setattr: '$(AT_FDCWD, "f", buffer, 24, 0);',
  inotify_init: '$();',
  inotify_init1: '$(0);',
  inotify_add_watch: '$(inotify_init(), ".", IN_CREATE);',
  inotify_rm_watch: 'int i = inotify_init(); $(i, inotify_add_watch(i, ".", IN_CREATE));',
  fanotify_init: '$(0x200, O_RDONLY);',
  fanotify_mark: '$(fanotify_init(0x200, O_RDONLY), 1, IN_CREATE, AT_FDCWD, ".");',
  fsync: '$(file()); $(77);',
  fdatasync: '$(file());',
  sync_file_range: '$(file(), 0, 8, 0);',
  syncfs: '$(file());',
  // Descriptors
  dup: '$(1);',
  dup2: '$(1, 40);',
  dup3: '$(1, 41, O_CLOEXEC);',
  pipe: '$(ends);',
  pipe2: '$(ends, O_CLOEXEC);',
  ioctl: '$(file(), FIONREAD, buffer);',
  close_range: '$(50, 60, 0);',
  splice: 'pipe(ends); $(file(), 0, ends[1], 0, 8, 0);',
  tee: 'int more[2]; pipe(ends); pipe(more); write(ends[1], "x", 1); $(ends[0], more[1], 1, 0);',
  vmsplice: 'struct iovec v = {buffer, 8}; pipe(ends); $(ends[1], &v, 1, 0);',
  eventfd: '$(1);',
  eventfd2: '$(1, 0);',
  epoll_create: '$(1);',
  epoll_create1: '$(0);',
  epoll_ctl: 'struct epoll_event e = {EPOLLIN}; pipe(ends); $(epoll_create1(0), EPOLL_CTL_ADD, ends[0], &e);',
  epoll_wait: '$(watching(), buffer, 4, 20);',
  epoll_pwait: '$(watching(), buffer, 4, 20, 0, 8);',
  epoll_pwait2: 'struct timespec t = {0, 20000000}; $(watching(), buffer, 4, &t, 0, 8);',
  poll: 'pipe(ends); struct pollfd p = {ends[0], POLLIN}; $(&p, 1, 20);',
  ppoll: 'struct timespec t = {0, 20000000}; pipe(ends); struct pollfd p = {ends[0], POLLIN}; $(&p, 1, &t, 0, 8);',
  select: 'struct timeval t = {0, 20000}; $(0, 0, 0, 0, &t);',
  pselect6: 'struct timespec t = {0, 20000000}; $(0, 0, 0, 0, &t, 0);',
  signalfd: 'long set = 1 << 9; $(-1, &set, 8);',
  signalfd4: 'long set = 1 << 9; $(-1, &set, 8, 0);',
  timerfd_create: '$(CLOCK_MONOTONIC, 0);',
  timerfd_settime:
    'struct itimerspec t = {{0}, {0, 30000000}}; int d = timerfd_create(CLOCK_MONOTONIC, 0); $(d, 0, &t, 0); long n; printf("%ld\\n", read(d, &n, 8));',
  timerfd_gettime: 'struct itimerspec t; $(timerfd_create(CLOCK_MONOTONIC, 0), &t);',
  memfd_create: '$("m", 0);',
  kcmp: '$(getpid(), getpid(), 0, 1, 1);',
  fcntl: '$(1, F_GETFL); $(file(), F_SETFL, O_APPEND); int d; pipe(ends); $(ends[0], F_SETPIPE_SZ, 8192);',
  // Memory
  mmap: '$(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); $(0, 4096, PROT_READ, MAP_PRIVATE, file(), 0);',
  mprotect: '$(pages(), 4096, PROT_READ);',
  munmap: '$(pages(), 4096);',
  brk: '$(0);',
  mremap: '$(pages(), 8192, 16384, MREMAP_MAYMOVE);',
  mincore: '$(pages(), 4096, buffer);',
  madvise: '$(pages(), 4096, MADV_DONTNEED);',
  process_madvise: 'struct iovec v = {pages(), 4096}; $(pidfd(getpid()), &v, 1, 21, 0);',
  mlock: '$(pages(), 4096);',
  mlock2: '$(pages(), 4096, 0);',
  munlock: '$(pages(), 4096);',
  mlockall: '$(MCL_FUTURE);',
  munlockall: '$();',
  remap_file_pages:
    'char *shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); $(shared, 4096, 0, 1, 0);',
  mbind: '$(pages(), 4096, 0, 0, 0, 0);',
  set_mempolicy: '$(0, 0, 0);',
  get_mempolicy: 'int mode = 9; $(&mode, 0, 0, 0, 0);',
  set_mempolicy_home_node: '$(pages(), 4096, 0, 0);',
  migrate_pages: 'long nodes = 1; $(0, 8, &nodes, &nodes);',
  move_pages: 'void *p = pages(); *(char *)p = 1; int status; $(0, 1, &p, 0, &status, 0);',
  pkey_mprotect: '$(pages(), 4096, PROT_READ, -1);',
  pkey_alloc: '$(0, 0);',
  pkey_free: '$(5);',
  map_shadow_stack: '$(0, 4096, 0);',
  mseal: '$(pages(), 4096, 0);',
  userfaultfd: '$(1);',
  membarrier: '$(0, 0, 0);',
  process_vm_readv: 'struct iovec l = {buffer, 4}, r = {"here", 4}; $(getpid(), &l, 1, &r, 1, 0); show(buffer);',
  process_vm_writev: 'struct iovec l = {"here", 4}, r = {buffer, 4}; $(getpid(), &l, 1, &r, 1, 0); show(buffer);',
  process_mrelease: '$(pidfd(getpid()), 0);',
  msync: '$(pages(), 4096, MS_SYNC);',
  sync: '$();',
  // Network
  socket: '$(AF_INET, SOCK_STREAM, 0); $(AF_INET6, SOCK_DGRAM, 0);',
  bind: 'struct sockaddr_in a = home(0); int s = socket(AF_INET, SOCK_STREAM, 0); $(s, &a, sizeof a);',
  listen: '$(socket(AF_INET, SOCK_STREAM, 0), 5);',
  connect: 'int s = listening(); struct sockaddr_in a = at(s); $(socket(AF_INET, SOCK_STREAM, 0), &a, sizeof a);',
  accept: 'int s = listening(); connected(s); $(s, 0, 0);',
  accept4: 'int s = listening(); connected(s); $(s, 0, 0, 0);',
  getsockname: 'int s = listening(); socklen_t n = 16; $(s, buffer, &n); printf("%d\\n", ntohs(at(s).sin_port));',
  getpeername: 'int c = connected(listening()); socklen_t n = 16; $(c, buffer, &n);',
  sendto: 'struct sockaddr_in a = home(9); $(socket(AF_INET, SOCK_DGRAM, 0), "x", 1, 0, &a, sizeof a);',
  recvfrom: 'socketpair(AF_UNIX, SOCK_DGRAM, 0, ends); write(ends[0], "x", 1); $(ends[1], buffer, 9, 0, 0, 0);',
  sendmsg:
    'struct iovec v = {"abc", 3}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1}; socketpair(AF_UNIX, SOCK_STREAM, 0, ends); $(ends[0], &m, 0);',
  recvmsg:
    'struct iovec v = {buffer, 9}; struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1}; socketpair(AF_UNIX, SOCK_STREAM, 0, ends); write(ends[0], "x", 1); $(ends[1], &m, 0);',
  sendmmsg:
    'struct iovec v = {"abc", 3}; struct mmsghdr m = {{.msg_iov = &v, .msg_iovlen = 1}}; socketpair(AF_UNIX, SOCK_DGRAM, 0, ends); $(ends[0], &m, 1, 0);',
  recvmmsg:
    'struct timespec t = {0, 20000000}; struct iovec v = {buffer, 9}; struct mmsghdr m = {{.msg_iov = &v, .msg_iovlen = 1}}; socketpair(AF_UNIX, SOCK_DGRAM, 0, ends); write(ends[0], "x", 1); $(ends[1], &m, 1, 0, &t);',
  shutdown: 'int c = connected(listening()); $(c, SHUT_WR);',
  socketpair: '$(AF_UNIX, SOCK_STREAM, 0, ends);',
  setsockopt:
    'int on = 1; struct timeval t = {0, 20000}; int s = socket(AF_INET, SOCK_DGRAM, 0); $(s, SOL_SOCKET, SO_REUSEADDR, &on, 4); $(s, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t); printf("%zd\\n", read(s, buffer, 1));',
  getsockopt:
    'socklen_t n = 4; int type; $(listening(), SOL_SOCKET, SO_TYPE, &type, &n); n = 16; $(listening(), SOL_SOCKET, SO_RCVTIMEO, buffer, &n);',
  // Processes and threads
  clone: 'wait_for($(SIGCHLD, 0, 0, 0, 0));',
  clone3: 'long args[8] = {0, 0, 0, 0, SIGCHLD}; wait_for($(args, 64));',
  fork: 'wait_for($());',
  vfork: 'pid_t child = vfork(); if (child == 0) _exit(3); wait_for(child);',
  execve: 'char *args[] = {"/bin/echo", "executed", 0}; $("/bin/echo", args, 0);',
  execveat: 'char *args[] = {"/bin/echo", "executed", 0}; $(AT_FDCWD, "/bin/echo", args, 0, 0);',
  exit: '$(0);',
  exit_group: '$(0);',
  wait4: 'pid_t child = ending(); int status; $(child, &status, 0, 0); printf("%x\\n", status);',
  waitid: 'pid_t child = ending(); $(P_PID, child, buffer, WEXITED, 0);',
  getpid: '$();',
  gettid: '$();',
  getppid: '$();',
  getpgrp: '$();',
  getpgid: '$(0);',
  setpgid: '$(0, 0);',
  getsid: '$(0);',
  setsid: '$();',
  set_tid_address: 'int word; $(&word);',
  set_robust_list: 'long head[3] = {(long)head, 0, 0}; $(head, sizeof head);',
  get_robust_list: 'long head, n; $(0, &head, &n);',
  futex: 'int word = 0; struct timespec t = {0, 20000000}; $(&word, 0, 0, &t); $(&word, 1, 1);',
  futex_wait:
    'int word = 0; struct timespec t = {0}; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_nsec += 20000000; $(&word, 0, -1, 2, &t, CLOCK_MONOTONIC);',
  futex_wake: 'int word = 0; $(&word, -1, 1, 2);',
  futex_requeue: 'int word = 0, other = 0; long w[6] = {0, (long)&word, 2, 0, (long)&other, 2}; $(w, 0, 1, 1);',
  futex_waitv:
    'int word = 0; struct timespec t = {0}; clock_gettime(CLOCK_MONOTONIC, &t); t.tv_nsec += 20000000; long w[3] = {0, (long)&word, 2}; $(w, 1, 0, &t, CLOCK_MONOTONIC);',
  rseq: '$(0, 0, 0, 0);',
  pidfd_open: '$(getpid(), 0);',
  pidfd_getfd: '$(pidfd(getpid()), 1, 0);',
  unshare: '$(0x4000000);',
  setns: '$(file(), 0);',
  restart_syscall: '$();',
  arch_prctl: 'long base; $(0x1003, &base);',
  set_thread_area: '$(buffer);',
  get_thread_area: '$(buffer);',
  modify_ldt: '$(0, buffer, 8);',
  personality: '$(0xffffffff);',
  sched_yield: '$();',
  // Signals
  rt_sigaction: 'long old[4]; $(SIGUSR1, 0, old, 8);',
  rt_sigprocmask: 'long set = 1 << 9; $(0, &set, 0, 8);',
  rt_sigreturn: 'signal(SIGUSR1, on_signal); raise(SIGUSR1); printf("%d\\n", signals);',
  rt_sigpending: 'block(SIGUSR1); raise(SIGUSR1); long set = 0; $(&set, 8); printf("%lx\\n", set);',
  rt_sigqueueinfo:
    'block(SIGUSR1); siginfo_t s = {0}; s.si_signo = SIGUSR1; s.si_code = SI_QUEUE; $(getpid(), SIGUSR1, &s);',
  rt_tgsigqueueinfo:
    'block(SIGUSR1); siginfo_t s = {0}; s.si_signo = SIGUSR1; s.si_code = SI_QUEUE; $(getpid(), getpid(), SIGUSR1, &s);',
  rt_sigsuspend: 'signal(SIGALRM, on_signal); ualarm(20000, 0); long set = 0; $(&set, 8);',
  rt_sigtimedwait: 'struct timespec t = {0, 20000000}; long set = 1 << 9; $(&set, 0, &t, 8);',
  pause: 'signal(SIGALRM, on_signal); ualarm(20000, 0); $();',
  kill: '$(getpid(), 0); block(SIGUSR1); $(getpid(), SIGUSR1);',
  tkill: 'block(SIGUSR1); $(getpid(), SIGUSR1);',
  tgkill: 'block(SIGUSR1); $(getpid(), getpid(), SIGUSR1);',
  pidfd_send_signal: '$(pidfd(getpid()), 0, 0, 0);',
  sigaltstack: 'stack_t s = {.ss_sp = pages(), .ss_size = 8192}; $(&s, 0);',
  // Time and chance
  clock_gettime:
    'long t[2]; $(CLOCK_REALTIME, t); printf("%ld\\n", t[0]); $(CLOCK_BOOTTIME, t); printf("%ld\\n", t[0]);',
  gettimeofday: 'long t[2]; $(t, 0); printf("%ld %ld\\n", t[0], t[1]);',
  time: '$(0);',
  clock_getres: 'long t[2]; $(CLOCK_REALTIME, t);',
  nanosleep: 'struct timespec t = {0, 20000000}; $(&t, 0);',
  clock_nanosleep: 'struct timespec t = {0, 20000000}; $(CLOCK_MONOTONIC, 0, &t, 0);',
  timer_create: 'int id; $(CLOCK_MONOTONIC, 0, &id);',
  timer_settime:
    'signal(SIGALRM, on_signal); struct itimerspec t = {{0}, {0, 20000000}}; $(timer(), 0, &t, 0); pause(); printf("%d\\n", signals);',
  timer_gettime: 'struct itimerspec t; $(timer(), &t);',
  timer_getoverrun: '$(timer());',
  timer_delete: '$(timer());',
  setitimer:
    'signal(SIGALRM, on_signal); struct itimerval t = {{0}, {0, 20000}}; $(ITIMER_REAL, &t, 0); pause(); printf("%d\\n", signals);',
  getitimer: 'struct itimerval t; $(ITIMER_REAL, &t);',
  alarm: '$(5); $(0);',
  getrandom: '$(buffer, 8, 0); printf("%lx\\n", *(long *)buffer);',
  getrusage: 'struct rusage u; $(0, &u); printf("%ld %ld\\n", u.ru_utime.tv_sec, u.ru_maxrss);',
  times: 'struct tms t; $(&t); printf("%ld\\n", t.tms_utime);',
  sysinfo: 'struct sysinfo s; $(&s); printf("%ld %ld\\n", s.uptime, s.freeram);',
  // Scheduling
  getcpu: 'int cpu = 9, node = 9; $(&cpu, &node, 0); printf("%d %d\\n", cpu, node);',
  sched_getaffinity: '$(0, 128, buffer); printf("%d\\n", buffer[0]);',
  sched_setaffinity: 'long set = 1; $(0, 8, &set);',
  sched_getscheduler: '$(0);',
  sched_setscheduler: 'int p = 1; $(0, 1, &p);',
  sched_getparam: 'int p; $(0, &p);',
  sched_setparam: 'int p = 0; $(0, &p);',
  sched_getattr: '$(0, buffer, 56, 0);',
  sched_setattr: '$(0, buffer, 0);',
  sched_get_priority_max: '$(1);',
  sched_get_priority_min: '$(1);',
  sched_rr_get_interval: 'long t[2]; $(0, t);',
  // Settings of the process
  getuid: '$();',
  geteuid: '$();',
  getgid: '$();',
  getegid: '$();',
  setuid: '$(1000); printf("%d\\n", getuid());',
  setgid: '$(1000); printf("%d\\n", getgid());',
  setreuid: '$(-1, 1000);',
  setregid: '$(-1, 1000);',
  setresuid: '$(-1, 1000, -1);',
  setresgid: '$(-1, 1000, -1);',
  setfsuid: '$(1000);',
  setfsgid: '$(1000);',
  getresuid: 'int u[3]; $(u, u + 1, u + 2);',
  getresgid: 'int u[3]; $(u, u + 1, u + 2);',
  getgroups: '$(64, buffer);',
  setgroups: 'int g = 7; $(1, &g);',
  capget: 'int header[2] = {0x20080522, 0}; $(header, buffer); printf("%x\\n", *(int *)buffer);',
  capset: 'int header[2] = {0x20080522, 0}; $(header, buffer);',
  getrlimit: 'long r[2]; $(RLIMIT_NOFILE, r); printf("%ld\\n", r[0]);',
  setrlimit: 'long r[2] = {64, 64}; $(RLIMIT_NOFILE, r);',
  prlimit64: 'long r[2]; $(0, RLIMIT_NOFILE, 0, r);',
  getpriority: '$(0, 0);',
  setpriority: '$(0, 0, 5);',
  ioprio_get: '$(1, 0);',
  ioprio_set: '$(1, 0, 0);',
  prctl: '$(15, "named"); $(1, SIGTERM);',
  seccomp: '$(2, 0, buffer);',
  landlock_create_ruleset: '$(0, 0, 1);',
  landlock_add_rule: '$(77, 1, buffer, 0);',
  landlock_restrict_self: '$(77, 0);',
  lsm_get_self_attr: 'int n = sizeof buffer; $(100, buffer, &n, 0);',
  lsm_set_self_attr: '$(100, buffer, 0, 0);',
  lsm_list_modules: 'int n = sizeof buffer; $(buffer, &n, 0);',
  // Queues, semaphores, shared memory
  shmget: '$(0, 4096, 0600);',
  shmat: '$(shmget(0, 4096, 0600), 0, 0);',
  shmctl: '$(shmget(0, 4096, 0600), 0, 0);',
  shmdt: '$(shmat(shmget(0, 4096, 0600), 0, 0));',
  semget: '$(0, 1, 0600);',
  semop: 'struct sembuf o = {0, 1, 0}; $(semget(0, 1, 0600), &o, 1);',
  semctl: '$(semget(0, 1, 0600), 0, 12, 0);',
  semtimedop: 'struct timespec t = {0, 20000000}; struct sembuf o = {0, -1, 0}; $(semget(0, 1, 0600), &o, 1, &t);',
  msgget: '$(0, 0600);',
  msgsnd: 'struct { long type; char text[4]; } m = {1, "abc"}; $(msgget(0, 0600), &m, 4, 0);',
  msgrcv:
    'struct { long type; char text[4]; } m = {1, "abc"}; int q = msgget(0, 0600); msgsnd(q, &m, 4, 0); $(q, &m, 4, 0, 0);',
  msgctl: '$(msgget(0, 0600), 0, 0);',
  mq_open: '$("queue", O_RDWR | O_CREAT, 0600, 0);',
  mq_unlink: 'queue(); $("q");',
  mq_timedsend: 'struct timespec t = {2000000000}; $(queue(), "abc", 3, 0, &t);',
  mq_timedreceive:
    'struct timespec t; clock_gettime(CLOCK_REALTIME, &t); t.tv_sec += 1; $(queue(), malloc(8192), 8192, 0, &t);',
  mq_notify: '$(queue(), 0);',
  mq_getsetattr: 'long a[8]; $(queue(), 0, a); printf("%ld\\n", a[1]);',
  // Mounts and names
  mount: '$("none", "/tmp", "tmpfs", 0, 0);',
  umount2: '$("/tmp", 0);',
  pivot_root: '$(".", ".");',
  chroot: '$(".");',
  open_tree: '$(AT_FDCWD, ".", 0);',
  open_tree_attr: '$(AT_FDCWD, ".", 0, 0, 0);',
  move_mount: '$(AT_FDCWD, ".", AT_FDCWD, ".", 0);',
  fsopen: '$("tmpfs", 0);',
  fsconfig: '$(77, 0, 0, 0, 0);',
  fsmount: '$(77, 0, 0);',
  fspick: '$(AT_FDCWD, ".", 0);',
  mount_setattr: '$(AT_FDCWD, ".", 0, buffer, 32);',
  statmount: 'long r[4] = {32, 0, 2, 0}; $(r, buffer, sizeof buffer, 0);',
  listmount: 'long r[4] = {32, -1, 0, 0}; $(r, 0, 0, 0);',
  sethostname: '$("other", 5);',
  setdomainname: '$("other", 5);',
  uname: '$(buffer); show(buffer);',
  sysfs: '$(3);',
}

/** Those that fail, as they are made here. All others succeed. */
const failing: Record<string, readonly SyscallName[]> = {
  'its time is over, or a signal came': [
    'rt_sigtimedwait',
    'semtimedop',
    'futex_waitv',
    'futex_wait',
    'futex',
    'rt_sigsuspend',
    'pause',
    'restart_syscall',
  ],
  'it is given what is not there, or means nothing': [
    'open',
    'fsync',
    'removexattr',
    'lremovexattr',
    'fremovexattr',
    'removexattrat',
    'close',
    'access',
    'mkdir',
    'lgetxattr',
    'fgetxattr',
    'getxattrat',
    'rseq',
    'setns',
    'process_mrelease',
    'landlock_add_rule',
    'landlock_restrict_self',
    'lsm_set_self_attr',
    'fsconfig',
    'statmount',
    'pkey_free',
  ],
  'a node may not do it': [
    'open_by_handle_at',
    'unshare',
    'mount',
    'umount2',
    'pivot_root',
    'move_mount',
    'fsopen',
    'fsmount',
    'fspick',
    'mount_setattr',
    'sethostname',
    'setdomainname',
  ],
  'kernels, processors and file systems may lack it': [
    'name_to_handle_at',
    'set_mempolicy_home_node',
    'pkey_alloc',
    'map_shadow_stack',
    'set_thread_area',
    'get_thread_area',
    'lsm_get_self_attr',
  ],
}

const functions = `
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <sys/xattr.h>
${Object.entries(syscallNumber)
  .map(([name, number]) => `#define NR_${name} ${number}`)
  .join('\n')}
static char buffer[4096];
static int ends[2], signals;
static void on_signal(int number) { signals += 1; }
static void block(int number) { sigset_t s; sigemptyset(&s); sigaddset(&s, number); sigprocmask(SIG_BLOCK, &s, 0); }
static int file(void) { return open("f", O_RDWR); }
static void show(const char *text) { printf("  %.40s\\n", text); }
static void time_of(void *stat) { printf("  %ld\\n", ((struct stat *)stat)->st_mtime); }
static void *pages(void) { return mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static int pidfd(int pid) { return syscall(NR_pidfd_open, pid, 0); }
static int watching(void) {
  struct epoll_event event = {EPOLLIN};
  int set = epoll_create1(0);
  pipe(ends);
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event);
  return set;
}
static struct sockaddr_in home(int port) {
  return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
}
static struct sockaddr_in at(int socket) {
  struct sockaddr_in address;
  socklen_t length = sizeof address;
  getsockname(socket, (struct sockaddr *)&address, &length);
  return address;
}
static int listening(void) {
  struct sockaddr_in address = home(0);
  int server = socket(AF_INET, SOCK_STREAM, 0);
  bind(server, (struct sockaddr *)&address, sizeof address);
  listen(server, 5);
  return server;
}
static int connected(int server) {
  struct sockaddr_in address = at(server);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  connect(client, (struct sockaddr *)&address, sizeof address);
  return client;
}
static int ending(void) { pid_t child = fork(); if (child == 0) _exit(3); return child; }
static void wait_for(pid_t child) {
  if (child == 0) _exit(0);
  int status = -1;
  waitpid(child, &status, 0);
  printf("  %x\\n", status);
}
static int timer(void) { int id = -1; syscall(NR_timer_create, CLOCK_MONOTONIC, 0, &id); return id; }
static int queue(void) { return syscall(NR_mq_open, "q", O_RDWR | O_CREAT, 0600, 0); }
static long say(const char *name, long result) {
  if (result == -1) printf("%s failed: %m\\n", name);
  else printf("%s gave %ld\\n", name, result);
  return result;
}
`

const programOf = (names: readonly SyscallName[]): string => {
  const made = names.map(name => {
    const body = rows[name]!.replaceAll(/\$\(\)/g, `say("${name}", syscall(NR_${name}))`).replaceAll(
      '$(',
      `CALL(${name}, `,
    )
    return `static void row_${name}(void) { ${body} }`
  })
  return `${functions}
#define CALL(name, ...) say(#name, syscall(NR_##name, __VA_ARGS__))
${made.join('\n')}
static struct { const char *name; void (*make)(void); } all[] = {${names.map(name => `{"${name}", row_${name}}`).join(', ')}};
`
}

const body = `
  chmod("/tmp", 01777);
  for (int i = 0; i < sizeof all / sizeof *all; i++) {
    pid_t child = fork();
    if (child == 0) {
      char place[64];
      snprintf(place, sizeof place, "/tmp/%s", all[i].name);
      mkdir(place, 0777);
      chdir(place);
      int made = open("f", O_RDWR | O_CREAT, 0666);
      write(made, "content!", 8);
      close(made);
      all[i].make();
      _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    if (status != 0) printf("%s ended with %x\\n", all[i].name, status);
  }
  printf("done\\n");
`

const made = (Object.keys(systemCalls) as SyscallName[]).filter(name => systemCalls[name].kind !== 'refused')

test('there is a program for each call that is not refused', () => {
  expect(made.filter(name => rows[name] === undefined)).toEqual([])
})

test.skipIf(!hasCompiler)(
  'each call gives the same in each execution, on new processes and in place (needs cc)',
  async () => {
    const program = compile(body, { functions: programOf(made.filter(name => rows[name] !== undefined)) })
    const { lines } = await heldOutput([program], 400)
    expect(lines.at(-1)).toBe('done')
    const others = made.filter(name => !Object.values(failing).flat().includes(name))
    const failed = lines.filter(line => / failed: (?!Function not implemented)| ended with /.test(line))
    expect(failed.filter(line => others.includes(line.split(' ')[0] as SyscallName))).toEqual([])
  },
  120_000,
)
