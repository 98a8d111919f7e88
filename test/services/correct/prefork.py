# Pre-forked workers that accept on one socket.
import os
import signal
import socket

from serve import in_child, serve

listener = socket.create_server(('', 8080), backlog=16)
workers = [in_child(lambda: serve(lambda: None, listener)) for _ in range(3)]
signal.signal(signal.SIGTERM, lambda *_: [os.kill(worker, signal.SIGTERM) for worker in workers])
os.wait()
