# The same as ring.cjs over UDP, in Python. Usage: ring.py NEXT-ADDRESS
import json, socket, sys, time

port = 4000
endpoint = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
endpoint.bind(('0.0.0.0', port))
time.sleep(1)
time.sleep(1)
endpoint.sendto(b'token', (sys.argv[1], port))
heard = 0
while True:
    message = endpoint.recv(100)
    heard += 1
    print(json.dumps({'heard': heard}), flush=True)
    endpoint.sendto(message, (sys.argv[1], port))
