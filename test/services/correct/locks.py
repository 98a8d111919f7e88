# flock and fcntl: two processes add to a number in a file, each under a lock.
import fcntl
import os

from serve import ended_well, in_child, serve

path = '/tmp/number'


def add(lock):
    with open(path, 'r+') as file:
        lock(file, fcntl.LOCK_EX)
        number = int(file.read() or 0)
        file.seek(0)
        file.write(str(number + 1))
        file.flush()
        os.sched_yield()
        lock(file, fcntl.LOCK_UN)


def work():
    for lock in (fcntl.flock, fcntl.lockf):
        with open(path, 'w') as file:
            file.write('0')
        children = [in_child(lambda: add(lock)) for _ in range(3)]
        add(lock)
        for child in children:
            ended_well(child)
        with open(path) as file:
            assert file.read() == '4'


serve(work)
