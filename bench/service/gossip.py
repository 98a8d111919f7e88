# As gossip.cjs, with asyncio, and with threads for what is heard.
# Usage: gossip.py NAME PEER PEER
import asyncio, hashlib, json, os, random, sys, threading, time

name, *peers = sys.argv[1:]
port = 4000
state = {'heard': 0, 'answered': 0, 'beats': 0, 'last': ''}


def log():
    print(json.dumps({**state, 'at': time.time()}), flush=True)


def write_down(rumour):
    key = hashlib.scrypt(rumour, salt=name.encode(), n=1024, r=8, p=1, dklen=16).hex()
    with open('rumours', 'a') as file:
        file.write(key + '\n')
    return key


async def hear(rumour):
    state['last'] = await asyncio.to_thread(write_down, rumour)
    state['heard'] += 1
    log()
    return state['last']


async def serve(reader, writer):
    try:
        writer.write((await hear(await reader.readline())).encode() + b'\n')
        await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


async def tell(peer, datagrams):
    rumour = f'{name} {os.urandom(8).hex()}\n'.encode()
    if random.random() < 0.5:
        return datagrams.sendto(rumour, (peer, port))
    try:
        reader, writer = await asyncio.open_connection(peer, port)
        writer.write(rumour)
        if await reader.readline():
            state['answered'] += 1
            log()
        writer.close()
    except OSError:
        pass


class Datagrams(asyncio.DatagramProtocol):
    def datagram_received(self, data, address):
        tasks.add(asyncio.ensure_future(hear(data)))


tasks = set()


def beat():
    while True:
        time.sleep(0.1 + random.random())
        state['beats'] += 1


async def main():
    await asyncio.start_server(serve, '0.0.0.0', port)
    loop = asyncio.get_running_loop()
    datagrams, _ = await loop.create_datagram_endpoint(Datagrams, local_addr=('0.0.0.0', port))
    threading.Thread(target=beat, daemon=True).start()
    while True:
        await asyncio.sleep(0.02 + 0.2 * random.random())
        tasks.add(asyncio.ensure_future(tell(random.choice(peers), datagrams)))


asyncio.run(main())
