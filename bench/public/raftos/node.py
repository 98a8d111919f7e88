"""One member of a RaftOS cluster: `node.py ADDRESS OTHER...`, each as HOST:PORT.

A datagram to port 8080 is a value. A member that leads sets `x` to it, and answers at once. The member prints its role, and what its log
knows, as a line of JSON whenever that has changed before it waits.

RaftOS 0.2.6 is of 2017, and Python 3.10 removed the parameter `loop` of `asyncio.Queue`: it is accepted again here. Messages are not
encrypted, so that labels can show them.
"""

import asyncio
import json
import selectors
import sys


class Queue(asyncio.Queue):
    def __init__(self, loop=None):
        super().__init__()


asyncio.Queue = Queue

import raftos  # noqa: E402
from raftos.cryptors import DummyCryptor  # noqa: E402
from raftos.serializers import JSONSerializer  # noqa: E402
from raftos.server import Node  # noqa: E402
from raftos.state import Leader, State  # noqa: E402

raftos.configure({"log_path": "/tmp/raftos/", "serializer": JSONSerializer, "cryptor": DummyCryptor})


class PrintingSelector(selectors.DefaultSelector):
    printed = ""

    def select(self, timeout=None):
        for node in Node.nodes:
            self.print_state(node.state)
        return super().select(timeout)

    def print_state(self, member):
        state = json.dumps(
            {
                "role": type(member.state).__name__.lower(),
                "term": member.storage.term if member.storage.exists("term") else 0,
                "committed": member.log.commit_index,
                "terms": [entry["term"] for entry in member.log.cache],
                "match": member.log.match_index if isinstance(member.state, Leader) else {},
            }
        )
        if state != self.printed:
            print(state, flush=True)
        self.printed = state


class Requests(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, value, sender):
        leads = raftos.get_leader() == sys.argv[1]
        if leads:
            asyncio.ensure_future(State.set_value("x", value.decode()))
        self.transport.sendto(b"taken" if leads else b"not the leader", sender)


async def serve():
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Requests, local_addr=("0.0.0.0", 8080))
    await raftos.register(sys.argv[1], cluster=sys.argv[1:], loop=loop)


loop = asyncio.SelectorEventLoop(PrintingSelector())
asyncio.set_event_loop(loop)
loop.run_until_complete(serve())
loop.run_forever()
