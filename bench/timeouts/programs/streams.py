# asyncio for a second at the most, then 504.
import asyncio
import os


async def ask():
    reader, writer = await asyncio.open_connection(os.environ["BACK"], 8080)
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    answer = await reader.read()
    writer.close()
    return answer.split(b"\r\n\r\n", 1)[1]


async def serve(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    try:
        body, status = await asyncio.wait_for(ask(), 1), b"200 OK"
    except (OSError, asyncio.TimeoutError):
        body, status = b"", b"504 Gateway Timeout"
    writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status, len(body), body))
    await writer.drain()
    writer.close()


async def main():
    async with await asyncio.start_server(serve, "", 8080) as server:
        await server.serve_forever()


asyncio.run(main())
