/* io_uring where there is one, and otherwise what every library does in its place. */
#include "serve.h"
#include <sys/syscall.h>
#include <sys/uio.h>

static const char *work(void) {
  char parameters[120] = {0}, text[6] = {0};
  int ring = syscall(SYS_io_uring_setup, 4, parameters);
  if (ring >= 0) close(ring);
  else must(errno == ENOSYS || errno == EPERM);
  int file = open("/tmp/ring", O_RDWR | O_CREAT | O_TRUNC, 0600);
  struct iovec parts[] = {{"fa", 2}, {"ll", 2}}, all = {text, 5};
  must(file >= 0 && pwritev(file, parts, 2, 0) == 4 && preadv2(file, &all, 1, 0, 0) == 4);
  close(file);
  must(strcmp(text, "fall") == 0);
  return NULL;
}
