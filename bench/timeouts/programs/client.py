# http.client with a time-out of five seconds: nothing catches it, and the request ends without an answer.
import os
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        back = HTTPConnection(os.environ["BACK"], 8080, timeout=5)
        back.request("GET", "/")
        body = back.getresponse().read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", 8080), Handler).serve_forever()
