// Two threads count in one variable, and call nothing meanwhile: an update is lost.
#include "serve.h"

static volatile int total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *count(void *unused) {
  for (int i = 0; i < 20; i++) {
    if (mended) pthread_mutex_lock(&mutex);
    total++;
    if (mended) pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void work(void) {
  total = 0;
  both(count, count);
  say(total == 40);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
