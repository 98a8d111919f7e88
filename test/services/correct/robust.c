/* A robust mutex whose owner, another process, has died. */
#include "serve.h"
#include <pthread.h>

static const char *work(void) {
  pthread_mutex_t *mutex = mmap(NULL, sizeof *mutex, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t kind;
  int status;
  must(mutex != MAP_FAILED);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(mutex, &kind);
  pid_t child = fork();
  if (child == 0) {
    pthread_mutex_lock(mutex);
    _exit(0);
  }
  must(waitpid(child, &status, 0) == child && status == 0);
  must(pthread_mutex_lock(mutex) == EOWNERDEAD);
  must(!pthread_mutex_consistent(mutex) && !pthread_mutex_unlock(mutex));
  must(!pthread_mutex_lock(mutex) && !pthread_mutex_unlock(mutex));
  munmap(mutex, sizeof *mutex);
  return NULL;
}
