# Two threads log what they add between reading a variable and writing it: one update is lost.
import json, socket, sys, threading
from contextlib import nullcontext

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
log = open('log', 'a', buffering=1)
lock = threading.Lock() if sys.argv[1] == 'mended' else nullcontext()
total = 0

def add(count):
    global total
    with lock:
        before = total
        log.write(f'adding {count}\n')
        total = before + count

while True:
    _, peer = udp.recvfrom(100)
    total = 0
    threads = [threading.Thread(target=add, args=(count,)) for count in (1, 2)]
    for each in threads: each.start()
    for each in threads: each.join()
    print(json.dumps({'right': total == 3}), flush=True)
    udp.sendto(b'done', peer)
