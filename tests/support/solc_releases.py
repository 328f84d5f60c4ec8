"""The one release of solc that forge fetches before it verifies, where there is no network.

A proxy on loopback stands for the publisher's hosts; to anything else it answers 502.
"""

import hashlib
import json
import socketserver
import ssl
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.support.serving import in_thread

HOSTS = ("binaries.soliditylang.org", "raw.githubusercontent.com")


class _Handler(BaseHTTPRequestHandler):
    server: "_Proxy"

    def do_CONNECT(self):
        host = self.path.partition(":")[0]
        if host not in HOSTS:
            self.send_error(502)
            return
        self.send_response(200)
        self.end_headers()
        with self.server.contexts[host].wrap_socket(self.connection, server_side=True) as tls:
            request = b""
            while b"\r\n\r\n" not in request and (part := tls.recv(65536)):
                request += part
            name = request.split(b" ")[1].rpartition(b"/")[2].decode()
            body = self.server.files.get(name, self.server.program)
            head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            tls.sendall(head.encode() + body)
        self.close_connection = True

    def log_message(self, *_):
        pass


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, authority, version, commit, program):
        super().__init__(("127.0.0.1", 0), _Handler)
        name = f"solc-linux-amd64-v{version}+commit.{commit}"
        digest = hashlib.sha256(program).hexdigest()
        build = {"path": name, "version": version, "sha256": f"0x{digest}"}
        builds = json.dumps({"builds": [build], "releases": {version: name}})
        names = f"soljson-v{version}+commit.{commit}.js\n"
        self.files = {"list.json": builds.encode(), "list.txt": names.encode()}
        self.program = program
        self.contexts = {host: _context(authority, host) for host in HOSTS}

    def shutdown_request(self, request):
        socketserver.TCPServer.close_request(self, request)  # TLS has shut it down


def _context(authority, host):
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(*authority.certificate(host))
    return context


@contextmanager
def published(authority, version, commit, program):
    """The environment for forge to find `program` as that release of solc."""
    with in_thread(_Proxy(authority, version, commit, program)) as url:
        yield {
            "HTTPS_PROXY": url,
            "NO_PROXY": "127.0.0.1,localhost",
            "SSL_CERT_FILE": str(authority.bundle),
        }
