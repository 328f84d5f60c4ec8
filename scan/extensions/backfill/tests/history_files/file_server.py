"""A web server of a folder of files, with ranges, and with faults of hosts."""

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.serving import in_thread


class FileServer(ThreadingHTTPServer):
    """`requests` has the path and range of each request so far; `fault` is given a file's name, and
    its status, headers and body, and returns others."""

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.fault, self.requests = folder, None, []
        self.url = f"http://127.0.0.1:{self.server_port}/era"

    def answer(self, name, range_):
        path = self.folder / name
        if not name:
            links = "".join(f'<a href="/era/{p.name}">x</a>' for p in self.folder.iterdir())
            return 200, {}, links.encode()
        if not path.is_file():
            return 404, {}, b""
        body = path.read_bytes()
        if not range_:
            return 200, {}, body
        first, _, last = range_.removeprefix("bytes=").partition("-")
        if int(first) >= len(body):
            return 416, {}, b""
        part = body[int(first) : int(last) + 1 if last else None]
        return 206, {"Content-Range": f"bytes {range_[6:]}/{len(body)}"}, part


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        server, name = self.server, self.path.removeprefix("/era/")
        range_ = self.headers.get("Range", "")
        server.requests.append((name, range_))
        answer = server.answer(name, range_)
        if server.fault is not None:
            answer = server.fault(name, answer)
        status, headers, body = answer
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing."""


@contextmanager
def file_server(folder):
    server = FileServer(folder)
    with in_thread(server):
        yield server
