/* A child that forbids itself a system call, and sees it refused. */
#include "serve.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static int restricted(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mkdir, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
  struct timespec time;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 1;
  if (syscall(SYS_mkdir, "/tmp/forbidden", 0700) != -1 || errno != EPERM) return 2;
  return clock_gettime(CLOCK_REALTIME, &time) ? 3 : 0;
}

static const char *work(void) {
  int status;
  pid_t child = fork();
  if (child == 0) _exit(restricted());
  must(waitpid(child, &status, 0) == child && status == 0);
  return NULL;
}
