# inotify: a directory is watched while a file is made in it.
import ctypes
import os

from serve import serve

libc = ctypes.CDLL(None, use_errno=True)
IN_CREATE = 0x100
os.makedirs('/tmp/watched', exist_ok=True)
count = 0


def work():
    global count
    count += 1
    descriptor = libc.inotify_init1(0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    assert libc.inotify_add_watch(descriptor, b'/tmp/watched', IN_CREATE) > 0
    open(f'/tmp/watched/{count}', 'w').close()
    event = os.read(descriptor, 4096)
    os.close(descriptor)
    assert event[16:].rstrip(b'\0') == str(count).encode(), event


serve(work)
