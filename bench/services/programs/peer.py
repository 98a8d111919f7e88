"""Answers by HTTP with a thread for each connection, and asks its peer every second from another."""
import http.client
import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock = threading.Lock()
count = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        global count
        with lock:
            count += 1
            body = json.dumps({"count": count}).encode()
            print(body.decode(), flush=True)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, *_):
        pass


def ask():
    while True:
        time.sleep(1)
        try:
            connection = http.client.HTTPConnection(sys.argv[1], 8080, timeout=3)
            connection.request("GET", "/")
            connection.getresponse().read()
            connection.close()
        except OSError:
            pass


threading.Thread(target=ask, daemon=True).start()
ThreadingHTTPServer(("0.0.0.0", 8080), Handler).serve_forever()
