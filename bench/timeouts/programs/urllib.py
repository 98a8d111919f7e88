# urllib with a time-out of two seconds, then 504.
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            body, status = urlopen(f"http://{os.environ['BACK']}:8080/", timeout=2).read(), 200
        except OSError:
            body, status = b"", 504
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


ThreadingHTTPServer(("", 8080), Handler).serve_forever()
