// Two threads add one to a number in a file: one update is lost.
#include "serve.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused) {
  char text[16] = {0};
  if (mended) pthread_mutex_lock(&mutex);
  int file = open("count", O_RDWR);
  int count = pread(file, text, 15, 0) > 0 ? atoi(text) : 0;
  pwrite(file, text, snprintf(text, sizeof text, "%d", count + 1), 0);
  close(file);
  if (mended) pthread_mutex_unlock(&mutex);
  return NULL;
}

static void work(void) {
  char text[16] = {0};
  close(open("count", O_CREAT | O_RDWR | O_TRUNC, 0644));
  both(add, add);
  int file = open("count", O_RDONLY);
  read(file, text, 15);
  close(file);
  say(atoi(text) == 2);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
