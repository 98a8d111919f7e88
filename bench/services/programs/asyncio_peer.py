"""Answers by HTTP from a task for each connection, works in asyncio's pool of threads, and asks its peer every second."""
import asyncio
import json
import sys

count = 0
lock = asyncio.Lock()


def work(n):
    return sum(range(n))


async def answer(reader, writer):
    global count
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            async with lock:
                count += 1
                body = json.dumps({"count": count}).encode()
                await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(4)))
                print(body.decode(), flush=True)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def ask():
    while True:
        await asyncio.sleep(1)
        try:
            async with asyncio.timeout(3):
                reader, writer = await asyncio.open_connection(sys.argv[1], 8080)
                writer.write(b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n")
                await reader.readuntil(b"}")
                writer.close()
        except (OSError, asyncio.IncompleteReadError):
            pass


async def main():
    server = await asyncio.start_server(answer, "0.0.0.0", 8080)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ask())
        tasks.create_task(server.serve_forever())


asyncio.run(main())
