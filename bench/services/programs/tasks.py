"""A task for a worker of Celery, and a web server that asks for it."""
import os

from celery import Celery

redis = f"redis://{os.environ['REDIS']}:6379"
app = Celery("tasks", broker=redis, backend=redis)


@app.task
def double(number):
    return number * 2


if __name__ == "__main__":
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            double.delay(21)
            self.send_response(202)
            self.end_headers()

        def log_message(self, *_):
            pass

    HTTPServer(("", 8080), Handler).serve_forever()
