# eventfd: a thread wakes another by one, and as a semaphore.
import os
import threading

from serve import serve


def work():
    descriptor = os.eventfd(0, os.EFD_SEMAPHORE)
    thread = threading.Thread(target=lambda: os.eventfd_write(descriptor, 3))
    thread.start()
    assert [os.eventfd_read(descriptor) for _ in range(3)] == [1, 1, 1]
    thread.join()
    os.close(descriptor)


serve(work)
