/* vfork, posix_spawn and system. */
#include "serve.h"
#include <spawn.h>

extern char **environ;

static const char *work(void) {
  int status;
  char *arguments[] = {"true", NULL};
  pid_t child = vfork();
  if (child == 0) {
    execv("/bin/true", arguments);
    _exit(9);
  }
  must(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  must(!posix_spawnp(&child, "true", NULL, NULL, arguments, environ));
  must(waitpid(child, &status, 0) == child && status == 0);
  must(WEXITSTATUS(system("exit 3")) == 3);
  return NULL;
}
