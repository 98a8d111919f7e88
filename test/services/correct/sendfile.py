# sendfile from a file to a socket, and copy_file_range.
import os
import socket
import threading

from serve import serve

length = 300_000


def work():
    with open('/tmp/source', 'w+b') as file:
        file.write(os.urandom(length))
        file.flush()
        one, other = socket.socketpair()
        got = []

        def read():
            while part := other.recv(65_536):
                got.append(part)

        thread = threading.Thread(target=read)
        thread.start()
        sent = 0
        while sent < length:
            sent += os.sendfile(one.fileno(), file.fileno(), sent, length - sent)
        one.close()
        thread.join()
        other.close()
        file.seek(0)
        assert b''.join(got) == file.read()
        with open('/tmp/copy', 'w+b') as copy:
            file.seek(0)
            assert os.copy_file_range(file.fileno(), copy.fileno(), length) == length


serve(work)
