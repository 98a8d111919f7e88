# SO_REUSEPORT: two processes listen on one port, each by a socket of its own.
import json
import socket

from serve import answer, in_child


def listen():
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(('', 8080))
    listener.listen(16)
    print(json.dumps({'count': 0}), flush=True)
    while True:
        answer(listener.accept()[0], lambda: None)


in_child(listen)
listen()
