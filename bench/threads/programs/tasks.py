# Two threads take the last task, if there is one: the second finds none.
import json, os, socket, sys, threading
from contextlib import nullcontext

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))
lock = threading.Lock() if sys.argv[1] == 'mended' else nullcontext()
tasks, failed = [], []

def take():
    with lock:
        if not tasks: return
        os.write(2, b'takes one\n')
        try:
            tasks.pop()
        except IndexError as error:
            failed.append(error)

while True:
    _, peer = udp.recvfrom(100)
    tasks.append('task')
    threads = [threading.Thread(target=take) for _ in range(2)]
    for each in threads: each.start()
    for each in threads: each.join()
    print(json.dumps({'right': not failed}), flush=True)
    udp.sendto(b'done', peer)
