"""One member of a list that PySyncObj replicates: `node.py HOST:PORT OTHER:PORT...`

`GET /append/LINE` on port 8080 hands the line to PySyncObj and answers 200 at once. The member prints what PySyncObj's own
`getStatus` says, and the terms of its log, as a line of JSON whenever that changes.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from pysyncobj import SyncObj, SyncObjConf, replicated

ROLES = ["follower", "candidate", "leader"]


class Lines(SyncObj):
    def __init__(self, own_address, other_addresses):
        super().__init__(own_address, other_addresses, SyncObjConf(connectionRetryTime=0.5))
        self.lines = []

    @replicated
    def append(self, line):
        self.lines.append(line)

    def terms(self):
        """The terms of all entries. Nothing is compacted, so the first has index 1."""
        log = self._SyncObj__raftLog
        return [log[at][2] for at in range(len(log))]


lines = Lines(sys.argv[1], sys.argv[2:])
printed = ""


def print_state():
    global printed
    status = lines.getStatus()

    def of_followers(what):
        return {key.removeprefix(what): index for key, index in status.items() if key.startswith(what)}

    leads = ROLES[status["state"]] == "leader"
    state = json.dumps(
        {
            "role": ROLES[status["state"]],
            "term": status["raft_term"],
            "committed": status["commit_idx"],
            "terms": lines.terms(),
            "next": of_followers("next_node_idx_server_") if leads else {},
            "match": of_followers("match_idx_server_") if leads else {},
        }
    )
    if state != printed:
        print(state, flush=True)
    printed = state


lines.addOnTickCallback(print_state)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        lines.append(self.path.split("/")[-1])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("", 8080), Handler)
while True:
    server.handle_request()
