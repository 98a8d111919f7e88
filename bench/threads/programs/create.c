// Two threads make a file if it is not there: both believe that they did.
#include "serve.h"

static int made;

static void *make(void *unused) {
  if (!mended && access("owner", F_OK) == 0) return NULL;
  int file = open("owner", O_CREAT | O_WRONLY | (mended ? O_EXCL : 0), 0644);
  if (file < 0) return NULL;
  __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST);
  close(file);
  return NULL;
}

static void work(void) {
  unlink("owner");
  made = 0;
  both(make, make);
  say(made == 1);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
