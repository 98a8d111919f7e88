"""One member of a counter that PySyncObj replicates: `syncobj.py HOST:PORT OTHER:PORT...`"""
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from pysyncobj import SyncObj
from pysyncobj.batteries import ReplCounter

counter = ReplCounter()
cluster = SyncObj(sys.argv[1], sys.argv[2:], consumers=[counter])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        counter.add(1)
        print(counter.get(), flush=True)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


HTTPServer(("", 8080), Handler).serve_forever()
