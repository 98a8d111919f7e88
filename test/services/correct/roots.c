/* A child with another root directory. */
#include "serve.h"
#include <sys/stat.h>

static int elsewhere(void) {
  if (chroot("/tmp/root") || chdir("/")) return 1;
  int file = open("/inside", O_RDWR | O_CREAT, 0600);
  return file < 0 || access("/etc/passwd", F_OK) == 0;
}

static const char *work(void) {
  int status;
  mkdir("/tmp/root", 0700);
  pid_t child = fork();
  if (child == 0) _exit(elsewhere());
  must(waitpid(child, &status, 0) == child && status == 0);
  must(access("/tmp/root/inside", F_OK) == 0);
  return NULL;
}
