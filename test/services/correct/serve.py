"""Answers each connection with what `work` returns: nothing means ok."""
import json
import os
import socket


def answer(connection, work):
    with connection:
        connection.recv(64)
        try:
            said = work() or 'ok'
        except BaseException as error:
            said = f'{type(error).__name__}: {error}'
        connection.sendall(said.encode())


def serve(work, listener=None):
    listener = listener or socket.create_server(('', 8080), backlog=16)
    count = 0
    while True:
        connection, _ = listener.accept()
        answer(connection, work)
        count += 1
        print(json.dumps({'count': count}), flush=True)


def in_child(work):
    """Runs it in a forked process; returns its number."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print(error, flush=True)
            os._exit(1)
    return child


def ended_well(child):
    _, status = os.waitpid(child, 0)
    assert status == 0, f'the child ended with {status}'
