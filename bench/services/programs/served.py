import os
import random
import threading
import time


def application(environ, start_response):
    with open("count", "a") as file:
        file.write(".")
    said = f"{os.getpid()} {threading.get_ident()} {time.time()} {random.random()} {os.path.getsize('count')}\n"
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(said)))])
    return [said.encode()]
