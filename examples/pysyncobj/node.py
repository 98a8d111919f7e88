"""One member of a list that PySyncObj replicates: `node.py HOST:PORT OTHER:PORT...`

`GET /append/LINE` on port 8080 is answered with 200 once PySyncObj says that the line is appended, and with 503 if it says that it
is not. The member prints its state as a line of JSON whenever that changes.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from pysyncobj import SyncObj, SyncObjConf, SyncObjException, replicated

ROLES = ["follower", "candidate", "leader"]


class Log(SyncObj):
    def __init__(self, own_address, other_addresses):
        # Fewer steps lead to a snapshot: by default a log is compacted after 5,000 entries, a lost connection is made again
        # after five seconds, and a tick takes 50 ms.
        settings = SyncObjConf(logCompactionMinEntries=2, connectionRetryTime=0.5, autoTickPeriod=0.1)
        super().__init__(own_address, other_addresses, settings)
        self.lines = []

    @replicated
    def append(self, line):
        self.lines.append(line)


log = Log(sys.argv[1], sys.argv[2:])
printed = ""


def print_state():
    global printed
    status = log.getStatus()
    state = json.dumps(
        {
            "role": ROLES[status["state"]],
            "term": status["raft_term"],
            "committed": status["commit_idx"],
            "entries": status["log_len"],
            "lines": log.lines,
        }
    )
    if state != printed:
        print(state, flush=True)
    printed = state


log.addOnTickCallback(print_state)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            log.append(self.path.split("/")[-1], sync=True)
            self.send_response(200)
        except SyncObjException:
            self.send_response(503)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("", 8080), Handler)
while True:
    server.handle_request()
