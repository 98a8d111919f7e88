// Two threads take two locks, in two orders: both wait for ever.
#include "serve.h"

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;

static void take(pthread_mutex_t *first, pthread_mutex_t *second) {
  pthread_mutex_lock(first);
  write(2, "one\n", 4);
  pthread_mutex_lock(second);
  pthread_mutex_unlock(second);
  pthread_mutex_unlock(first);
}

static void *one(void *unused) { take(&a, &b); return NULL; }
static void *other(void *unused) { if (mended) take(&a, &b); else take(&b, &a); return NULL; }

static void work(void) {
  say(0);
  both(one, other);
  say(1);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
