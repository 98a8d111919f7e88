/* Message queues: POSIX, by priority, and System V. */
#include "serve.h"
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>

static const char *work(void) {
  struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 16};
  struct {
    long type;
    char text[8];
  } message = {1, "system"};
  char text[16];
  unsigned priority;
  int status;
  mqd_t queue = mq_open("/queue", O_RDWR | O_CREAT, 0600, &attributes);
  must(queue >= 0);
  pid_t child = fork();
  if (child == 0) _exit(mq_send(queue, "low", 4, 1) || mq_send(queue, "high", 5, 9));
  must(waitpid(child, &status, 0) == child && status == 0);
  must(mq_receive(queue, text, sizeof text, &priority) == 5 && priority == 9);
  must(mq_receive(queue, text, sizeof text, &priority) == 4 && priority == 1);
  must(!mq_close(queue) && !mq_unlink("/queue"));
  int key = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
  must(key >= 0 && !msgsnd(key, &message, 7, 0));
  must(msgrcv(key, &message, 8, 0, 0) == 7 && strcmp(message.text, "system") == 0);
  must(!msgctl(key, IPC_RMID, NULL));
  return NULL;
}
