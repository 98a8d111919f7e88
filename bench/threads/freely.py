"""Runs a program again and again as it is, asks it twice each time, and prints in how many runs it was wrong."""
import socket, subprocess, sys, tempfile, time

times, command = int(sys.argv[1]), sys.argv[2:]
wrong = 0
for _ in range(times):
    with tempfile.TemporaryDirectory() as directory:
        program = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.settimeout(0.3)
        answers, deadline = 0, time.time() + 10
        while answers == 0 and time.time() < deadline:
            udp.sendto(b'go', ('127.0.0.1', 7000))
            try:
                udp.recvfrom(100)
                answers += 1
            except OSError:
                if program.poll() is not None: break
                time.sleep(0.05)
        if answers:
            udp.sendto(b'go', ('127.0.0.1', 7000))
            try:
                udp.recvfrom(100)
            except OSError:
                pass
        program.kill()
        said = program.stdout.read().split('\n')
        wrong += any('false' in line and (at + 1 >= len(said) or 'true' not in said[at + 1]) for at, line in enumerate(said))
print(wrong)
