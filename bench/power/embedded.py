"""Keeps words in an embedded store, and acknowledges each once the store says that it is committed."""
import json
import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

sys.path.insert(0, sys.argv[1])
kind, setting = sys.argv[2:]
place = '/var/tmp/power'


def sync_directory(path):
    directory = os.open(path, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


class Sqlite:
    def __init__(self):
        import sqlite3

        journal, synchronous = setting.split('-')
        self.db = sqlite3.connect(f'{place}/db', isolation_level=None)
        self.db.execute(f'pragma journal_mode={journal}')
        self.db.execute(f'pragma synchronous={synchronous}')
        if synchronous == 'OFF':
            # Soon written to the database, with nothing synced before.
            self.db.execute('pragma wal_autocheckpoint=1')
        self.db.execute('create table if not exists words (word text primary key, text text)')

    def put(self, word):
        self.db.execute('insert into words values (?, ?)', (word, word * 100))

    def words(self):
        checked = self.db.execute('pragma integrity_check').fetchall()
        assert checked == [('ok',)], checked
        return [word for (word,) in self.db.execute('select word from words')]


class LevelDb:
    def __init__(self):
        import plyvel

        self.db = plyvel.DB(f'{place}/db', create_if_missing=True, paranoid_checks=True)

    def put(self, word):
        self.db.put(word.encode(), b'text', sync=setting == 'sync')

    def words(self):
        return [key.decode() for key, _ in self.db.iterator(verify_checksums=True)]


class Lmdb:
    def __init__(self):
        import lmdb

        options = {
            'sync': {},
            'nometasync': {'metasync': False},
            'nosync': {'sync': False},
            'writemap': {'writemap': True},
            'writemap-nosync': {'writemap': True, 'sync': False},
        }[setting]
        self.db = lmdb.open(f'{place}/db', map_size=1 << 20, **options)

    def put(self, word):
        with self.db.begin(write=True) as transaction:
            transaction.put(word.encode(), b'text')

    def words(self):
        with self.db.begin() as transaction:
            return [key.decode() for key, _ in transaction.cursor()]


def say():
    """What the store holds, or what it says is wrong with it."""
    try:
        seen = {'words': store.words()}
    except Exception as error:
        seen = {'broken': f'{type(error).__name__}: {error}'}
    print(json.dumps(seen), flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_PUT(self):
        store.put(self.path[1:])
        self.send_response(200)
        self.end_headers()
        say()

    def log_message(self, *_):
        pass


# What is made at the first start lasts: this is about what comes afterwards.
is_first = not os.path.exists(place)
os.makedirs(place, exist_ok=True)
store = {'sqlite': Sqlite, 'leveldb': LevelDb, 'lmdb': Lmdb}[kind]()
if is_first:
    os.sync()
say()
HTTPServer(('', 8080), Handler).serve_forever()
