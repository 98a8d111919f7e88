/* Shared memory by name (POSIX) and by key (System V), and a System V semaphore. */
#include "serve.h"
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/shm.h>

static const char *work(void) {
  int status;
  int named = shm_open("/named", O_RDWR | O_CREAT, 0600);
  must(named >= 0 && !ftruncate(named, 4096));
  char *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, named, 0);
  int key = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600), semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  char *attached = shmat(key, NULL, 0);
  struct sembuf raise = {0, 1, 0}, lower = {0, -1, 0};
  must(mapped != MAP_FAILED && attached != (char *)-1 && semaphore >= 0);
  pid_t child = fork();
  if (child == 0) {
    strcpy(mapped, "named");
    strcpy(attached, "keyed");
    _exit(semop(semaphore, &raise, 1) != 0);
  }
  must(!semop(semaphore, &lower, 1));
  must(waitpid(child, &status, 0) == child && status == 0);
  must(strcmp(mapped, "named") == 0 && strcmp(attached, "keyed") == 0);
  must(!shmdt(attached) && !shmctl(key, IPC_RMID, NULL) && !semctl(semaphore, 0, IPC_RMID));
  must(!munmap(mapped, 4096) && !shm_unlink("/named"));
  close(named);
  return NULL;
}
