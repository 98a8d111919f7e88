/* Signals and all timers: setitimer, alarm, timer_create by signal, timerfd, nanosleep, sigtimedwait. */
#include "serve.h"
#include <sys/time.h>
#include <sys/timerfd.h>

static volatile sig_atomic_t signals;
static void count(int signal) { signals += signal > 0; }

static const char *work(void) {
  struct sigaction action = {.sa_handler = count};
  struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  struct timespec before, after, rest = {.tv_nsec = 30000000};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  struct itimerspec later = {.it_value = {.tv_nsec = 40000000}};
  sigset_t awaited, old;
  timer_t timer;
  unsigned long long expired;
  signals = 0;
  must(!sigaction(SIGALRM, &action, NULL) && !sigaction(SIGUSR1, &action, NULL));
  must(!setitimer(ITIMER_REAL, &soon, NULL));
  must(pause() == -1 && signals == 1);
  alarm(1);
  must(pause() == -1 && signals == 2);
  must(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &later, NULL));
  must(pause() == -1 && signals == 3);
  must(!timer_delete(timer));
  int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
  must(descriptor >= 0 && !timerfd_settime(descriptor, 0, &later, NULL));
  must(read(descriptor, &expired, sizeof expired) == sizeof expired && expired == 1);
  close(descriptor);
  clock_gettime(CLOCK_MONOTONIC, &before);
  must(!nanosleep(&rest, NULL));
  clock_gettime(CLOCK_MONOTONIC, &after);
  must((after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec >= 30000000);
  sigemptyset(&awaited);
  sigaddset(&awaited, SIGUSR2);
  sigprocmask(SIG_BLOCK, &awaited, &old);
  kill(getpid(), SIGUSR2);
  must(sigtimedwait(&awaited, NULL, &rest) == SIGUSR2);
  must(sigtimedwait(&awaited, NULL, &rest) == -1 && errno == EAGAIN);
  sigprocmask(SIG_SETMASK, &old, NULL);
  return NULL;
}
