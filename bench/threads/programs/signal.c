// A thread waits for a condition that was signalled before: it waits for ever.
#include "serve.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int done;

static void *waiter(void *unused) {
  if (!mended && done) return NULL;
  write(2, "waits\n", 6);
  pthread_mutex_lock(&mutex);
  if (mended) while (!done) pthread_cond_wait(&ready, &mutex);
  else pthread_cond_wait(&ready, &mutex);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void *signaller(void *unused) {
  pthread_mutex_lock(&mutex);
  done = 1;
  pthread_cond_signal(&ready);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void work(void) {
  done = 0;
  say(0);
  both(waiter, signaller);
  say(1);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
