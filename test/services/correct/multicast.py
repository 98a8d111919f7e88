# Multicast to a group of which the node is a member itself.
import socket
import struct

from serve import serve

group = '239.1.2.3'


def work():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as member:
        member.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        member.bind(('', 5000))
        membership = socket.inet_aton(group) + socket.inet_aton('127.0.0.1')
        member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
        member.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton('127.0.0.1'))
        member.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, struct.pack('b', 1))
        member.sendto(b'to all', (group, 5000))
        assert member.recv(16) == b'to all'


serve(work)
