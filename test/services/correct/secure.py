# TLS in Python.
import os
import socket
import ssl
import sys

from serve import serve

cert = os.environ['CERT']


def back():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, os.environ['KEY'])
    listener = socket.create_server(('', 8080))
    while True:
        connection, _ = listener.accept()
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.sendall(b'secret ' + secure.recv(64))


def work():
    context = ssl.create_default_context(cafile=cert)
    with socket.create_connection((os.environ['BACK'], 8080)) as plain:
        with context.wrap_socket(plain, server_hostname='back') as secure:
            secure.sendall(b'word')
            got = secure.recv(64)
    assert got == b'secret word', got


back() if sys.argv[1:] == ['back'] else serve(work)
