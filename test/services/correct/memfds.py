# memfd: memory with a descriptor, sealed, and mapped by a child.
import fcntl
import mmap
import os

from serve import ended_well, in_child, serve


def work():
    descriptor = os.memfd_create('shared', os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, 4096)

    def write():
        with mmap.mmap(descriptor, 4096) as mapped:
            mapped[:5] = b'child'

    ended_well(in_child(write))
    assert os.pread(descriptor, 5, 0) == b'child'
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    try:
        os.pwrite(descriptor, b'x', 0)
        return 'wrote to sealed memory'
    except PermissionError:
        os.close(descriptor)


serve(work)
