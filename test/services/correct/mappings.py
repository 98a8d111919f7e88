# mmap: shared with a child, of a file and of no file.
import mmap

from serve import ended_well, in_child, serve


def work():
    with open('/tmp/mapped', 'w+b') as file:
        file.truncate(8192)
        shared, nameless = mmap.mmap(file.fileno(), 8192), mmap.mmap(-1, 8192)
        shared[:5], nameless[:5] = b'first', b'first'

        def write():
            shared[4096:4102] = b'second'
            nameless[4096:4102] = b'second'

        ended_well(in_child(write))
        shared.flush()
        file.seek(4096)
        assert file.read(6) == b'second' and nameless[4096:4102] == b'second'
        shared.close()
        nameless.close()


serve(work)
