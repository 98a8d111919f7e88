/* A child that gives up its rights. */
#include "serve.h"
#include <grp.h>

static int ordinary(void) {
  if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)) return 1;
  if (getuid() != 65534 || setuid(0) == 0) return 2;
  return open("/tmp/secret", O_RDONLY) >= 0;
}

static const char *work(void) {
  int status;
  close(open("/tmp/secret", O_RDWR | O_CREAT, 0600));
  pid_t child = fork();
  if (child == 0) _exit(ordinary());
  must(waitpid(child, &status, 0) == child && status == 0);
  return NULL;
}
