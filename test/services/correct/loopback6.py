# IPv6 of the machine itself: TCP and UDP on ::1.
import socket
import threading

from serve import serve


def work():
    with socket.create_server(('::1', 0), family=socket.AF_INET6) as listener:
        thread = threading.Thread(target=lambda: socket.create_connection(listener.getsockname()[:2]).sendall(b'six'))
        thread.start()
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(3) == b'six'
        thread.join()
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as one, socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as other:
        one.bind(('::1', 0))
        other.sendto(b'datagram', one.getsockname())
        assert one.recv(16) == b'datagram'


serve(work)
