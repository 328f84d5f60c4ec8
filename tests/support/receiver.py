"""A real HTTPS server that is sent webhooks, with a certificate authority of its own."""

import hashlib
import hmac
import json
import ssl
import threading
import time
from collections import namedtuple
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import trustme

from tests.support import WAIT_S
from tests.support.serving import in_thread


class Received(namedtuple("Received", "path headers body at")):
    """One request as it came; `at` is time.time()."""

    @property
    def event(self):
        return dict(json.loads(self.body))

    @property
    def delivery(self):
        return self.headers["X-Scan-Delivery"]

    def is_signed_with(self, secret):
        expected = hmac.new(secret.encode(), self.body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(self.headers["X-Scan-Signature"], f"sha256={expected}")


Answer = namedtuple("Answer", "status headers body", defaults=(204, (), b""))


class Authority:
    """Issues the receivers' certificates; `bundle` is what REQUESTS_CA_BUNDLE names."""

    def __init__(self, folder):
        self._authority = trustme.CA()
        self._folder = folder
        self.bundle = folder / "ca.pem"
        self._authority.cert_pem.write_to_path(str(self.bundle))

    def certificate(self, *names):
        """(certificate, key) as files."""
        issued = self._authority.issue_cert(*names)
        certificate, key = (self._folder / f"{names[0]}.{kind}" for kind in ("pem", "key"))
        issued.private_key_pem.write_to_path(str(key))
        certificate.write_bytes(b"".join(pem.bytes() for pem in issued.cert_chain_pems))
        return certificate, key


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body waits for the acknowledgement of the head, 40 ms
    server: "Receiver"

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        if len(body) < length:  # the sender died on the way
            self.close_connection = True
            return
        received = Received(self.path, dict(self.headers.items()), body, time.time())
        self.server.note(received)
        answer = self.server.behaviour(self, received)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_):
        pass


class Receiver(ThreadingHTTPServer):
    """Keeps what it is sent; `behaviour` answers, or returns None to hang up without a word."""

    request_queue_size = 128

    def __init__(self, certificate=None, key=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self._context = None
        if certificate is not None:
            self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            self._context.load_cert_chain(certificate, key)
        self._arrived = threading.Condition()
        self.received = []
        self.connections = 0
        self.behaviour = lambda _handler, _received: Answer()
        self.closing = threading.Event()

    def url(self, path="/", host="localhost"):
        scheme = "https" if self._context else "http"
        return f"{scheme}://{host}:{self.server_port}{path}"

    def get_request(self):
        sock, address = super().get_request()
        self.connections += 1
        return sock, address

    def finish_request(self, request, client_address):
        """TLS in the connection's own thread, so that no handshake holds up the next one."""
        request.settimeout(WAIT_S)
        if self._context is not None:
            request = self._context.wrap_socket(request, server_side=True)
        with request:
            super().finish_request(request, client_address)

    def handle_error(self, request, client_address):
        pass

    def note(self, received):
        with self._arrived:
            self.received.append(received)
            self._arrived.notify_all()

    def wait_for(self, count, timeout_s=WAIT_S):
        """At least so many requests."""
        with self._arrived:
            enough = self._arrived.wait_for(lambda: len(self.received) >= count, timeout_s)
            assert enough, f"{len(self.received)} of {count} requests came"
            return [*self.received]


@contextmanager
def running(receiver):
    with in_thread(receiver):
        try:
            yield receiver
        finally:
            receiver.closing.set()
