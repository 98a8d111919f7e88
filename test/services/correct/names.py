# Names: of a peer, of itself, of localhost, and one that does not exist.
import os
import socket

from serve import serve


def work():
    peer = os.environ['PEER']
    assert socket.gethostbyname(peer) == os.environ['PEER_ADDRESS']
    assert socket.gethostbyname('localhost') == '127.0.0.1'
    assert socket.gethostbyname(socket.gethostname()).startswith(('10.', '127.'))
    try:
        socket.gethostbyname('there-is-no-such-host.invalid')
        return 'found a host that does not exist'
    except socket.gaierror:
        pass


serve(work)
