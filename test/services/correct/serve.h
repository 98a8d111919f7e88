/* Answers each connection with what `work` returns: null means ok. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define must(what) \
  do { \
    if (!(what)) return failed(#what); \
  } while (0)

static const char *failed(const char *what) {
  static char text[200];
  snprintf(text, sizeof text, "%s: %s", what, strerror(errno));
  return text;
}

static const char *work(void);

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, count = 0;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(8080)};
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 16)) return 1;
  for (;;) {
    int connection = accept(listener, NULL, NULL);
    char asked[64];
    if (connection < 0) continue;
    if (read(connection, asked, sizeof asked) > 0) {
      const char *answer = work();
      if (answer == NULL) answer = "ok";
      if (write(connection, answer, strlen(answer)) < 0) perror("write");
    }
    close(connection);
    printf("{\"count\":%d}\n", ++count);
    fflush(stdout);
  }
}
