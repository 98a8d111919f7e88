# Unix sockets, and a descriptor sent over one by SCM_RIGHTS.
import os
import socket

from serve import ended_well, in_child, serve


def work():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)

    def send():
        with open('/tmp/passed', 'w+') as file:
            file.write('from a child')
            file.flush()
            socket.send_fds(theirs, [b'x'], [file.fileno()])

    child = in_child(send)
    _, (descriptor,), _, _ = socket.recv_fds(ours, 1, 1)
    ended_well(child)
    assert os.pread(descriptor, 64, 0) == b'from a child'
    os.close(descriptor)
    ours.close()
    theirs.close()
    if os.path.exists('/tmp/named'):
        os.remove('/tmp/named')
    listener = socket.socket(socket.AF_UNIX)
    listener.bind('/tmp/named')
    listener.listen()

    def ask():
        with socket.socket(socket.AF_UNIX) as asking:
            asking.connect('/tmp/named')
            asking.sendall(b'hello')

    child = in_child(ask)
    connection, _ = listener.accept()
    assert connection.recv(5) == b'hello'
    ended_well(child)
    connection.close()
    listener.close()


serve(work)
