/* A timer of timer_create that calls a function in a thread. */
#include "serve.h"
#include <semaphore.h>

static sem_t called;
static void call(union sigval value) { sem_post(value.sival_ptr); }

static const char *work(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = call, .sigev_value.sival_ptr = &called};
  struct itimerspec soon = {.it_value = {.tv_nsec = 50000000}, .it_interval = {.tv_nsec = 50000000}};
  timer_t timer;
  sem_init(&called, 0, 0);
  must(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &soon, NULL));
  for (int times = 0; times < 3; times++)
    while (sem_wait(&called)) must(errno == EINTR);
  must(!timer_delete(timer));
  return NULL;
}
