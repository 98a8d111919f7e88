// Does something with two threads for each datagram, and answers.
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int mended;

static void say(int right) {
  printf("{\"right\": %s}\n", right ? "true" : "false");
  fflush(stdout);
}

static void both(void *(*one)(void *), void *(*other)(void *)) {
  pthread_t first, second;
  pthread_create(&first, NULL, one, NULL);
  pthread_create(&second, NULL, other, NULL);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
}

static void serve(int argc, char **argv, void (*work)(void)) {
  mended = argc > 1 && strcmp(argv[1], "mended") == 0;
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(7000)};
  bind(fd, (struct sockaddr *)&own, sizeof own);
  for (;;) {
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    char said[16];
    recvfrom(fd, said, sizeof said, 0, (struct sockaddr *)&from, &size);
    work();
    sendto(fd, "done", 4, 0, (struct sockaddr *)&from, size);
  }
}
