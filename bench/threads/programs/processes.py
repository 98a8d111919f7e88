# Two processes add one to a number in a file: one update is lost.
import fcntl, json, os, socket, sys

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(('', 7000))

def add():
    with open('count', 'r+') as file:
        if sys.argv[1] == 'mended': fcntl.flock(file, fcntl.LOCK_EX)
        count = int(file.read())
        file.seek(0)
        file.write(str(count + 1))
        file.flush()

while True:
    _, peer = udp.recvfrom(100)
    with open('count', 'w') as file: file.write('0')
    children = []
    for _ in range(2):
        child = os.fork()
        if child == 0:
            add()
            os._exit(0)
        children.append(child)
    for child in children: os.waitpid(child, 0)
    print(json.dumps({'right': open('count').read() == '2'}), flush=True)
    udp.sendto(b'done', peer)
