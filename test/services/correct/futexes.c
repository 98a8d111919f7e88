/* A mutex and a condition in memory that processes share. */
#include "serve.h"
#include <pthread.h>

struct shared {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int turns;
};

static int play(struct shared *shared, int own) {
  for (int round = 0; round < 5; round++) {
    pthread_mutex_lock(&shared->mutex);
    while (shared->turns % 2 != own) pthread_cond_wait(&shared->changed, &shared->mutex);
    shared->turns++;
    pthread_cond_broadcast(&shared->changed);
    pthread_mutex_unlock(&shared->mutex);
  }
  return 0;
}

static const char *work(void) {
  struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t kind;
  pthread_condattr_t condition;
  int status;
  must(shared != MAP_FAILED);
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &kind);
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->changed, &condition);
  pid_t child = fork();
  if (child == 0) _exit(play(shared, 1));
  play(shared, 0);
  must(waitpid(child, &status, 0) == child && status == 0);
  must(shared->turns == 10);
  munmap(shared, sizeof *shared);
  return NULL;
}
