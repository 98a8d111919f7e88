// The balance is looked at under a lock, and changed under the next one: both threads withdraw the same money.
#include "serve.h"

static int balance;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *withdraw(void *unused) {
  pthread_mutex_lock(&mutex);
  int seen = balance;
  if (!mended) pthread_mutex_unlock(&mutex);
  if (!mended) pthread_mutex_lock(&mutex);
  if (seen >= 10) balance -= 10;
  pthread_mutex_unlock(&mutex);
  return NULL;
}

static void work(void) {
  balance = 10;
  both(withdraw, withdraw);
  say(balance == 0);
}

int main(int argc, char **argv) { serve(argc, argv, work); }
