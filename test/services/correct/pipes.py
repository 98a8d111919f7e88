# Pipes: a pipeline of programs, and a named one.
import os
import subprocess

from serve import ended_well, in_child, serve


def work():
    text = subprocess.run(
        'printf "b\\na\\nb\\n" | sort | uniq -c | tr -d " " | tr "\\n" ,', shell=True, capture_output=True, text=True
    )
    assert text.stdout == '1a,2b,', text
    if os.path.exists('/tmp/fifo'):
        os.remove('/tmp/fifo')
    os.mkfifo('/tmp/fifo')

    def write():
        with open('/tmp/fifo', 'w') as fifo:
            fifo.write('x' * 100_000)

    child = in_child(write)
    with open('/tmp/fifo') as fifo:
        assert len(fifo.read()) == 100_000
    ended_well(child)


serve(work)
