# epoll, edge-triggered, over connections to itself.
import select
import socket

from serve import serve


def work():
    one, other = socket.socketpair()
    other.setblocking(False)
    epoll = select.epoll()
    epoll.register(other, select.EPOLLIN | select.EPOLLET)
    got = b''
    for part in (b'first', b'second', b'third'):
        one.sendall(part)
        assert epoll.poll(5) == [(other.fileno(), select.EPOLLIN)]
        got += other.recv(2)
        assert epoll.poll(0) == []
    while True:
        try:
            got += other.recv(4)
        except BlockingIOError:
            break
    assert got == b'firstsecondthird', got
    epoll.close()
    one.close()
    other.close()


serve(work)
