/* Says hello to its neighbour over UDP once a second, and prints as its state how many hellos it has had. A small static program. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc != 2) return 64;
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = INADDR_ANY};
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(7000), .sin_addr.s_addr = inet_addr(argv[1])};
  int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(socket_fd, (struct sockaddr *)&own, sizeof own) != 0) return 1;
  int timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec every = {.it_value = {1, 0}, .it_interval = {1, 0}};
  timerfd_settime(timer_fd, 0, &every, NULL);
  struct pollfd waits[2] = {{socket_fd, POLLIN, 0}, {timer_fd, POLLIN, 0}};
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (long had = 0;;) {
    char bytes[64];
    poll(waits, 2, -1);
    if (waits[1].revents & POLLIN) {
      if (read(timer_fd, bytes, 8) == 8) sendto(socket_fd, "hello", 5, 0, (struct sockaddr *)&peer, sizeof peer);
    }
    if (waits[0].revents & POLLIN && recv(socket_fd, bytes, sizeof bytes, 0) > 0) printf("{\"had\":%ld}\n", ++had);
  }
}
