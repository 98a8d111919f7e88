# sqlite: two processes write to one database.
import os
import sqlite3

from serve import ended_well, in_child, serve

path = '/tmp/data.sqlite'


def add():
    database = sqlite3.connect(path, timeout=10, isolation_level=None)
    database.execute('begin immediate')
    (number,) = database.execute('select number from counter').fetchone()
    database.execute('update counter set number = ?', (number + 1,))
    database.execute('commit')
    database.close()


def work():
    if os.path.exists(path):
        os.remove(path)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute('pragma journal_mode = wal')
    database.execute('create table counter (number)')
    database.execute('insert into counter values (0)')
    database.close()
    child = in_child(add)
    add()
    ended_well(child)
    database = sqlite3.connect(path)
    assert database.execute('select number from counter').fetchone() == (2,)
    database.close()


serve(work)
