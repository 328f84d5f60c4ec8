"""A webhook receiver in Python: standard library only.

SECRET=... python receiver.py PORT [CERTIFICATE KEY]
"""

import hashlib
import hmac
import json
import os
import ssl
import sys
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["SECRET"]
MOST_BYTES = 1_000_000
handled = set()  # in production: a unique column, written in the transaction of what you store


def is_genuine(body: bytes, signature: str) -> bool:
    """Compares the HMAC of the received bytes; parse them only afterwards."""
    expected = "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "-1"))
        if not 0 <= length <= MOST_BYTES:
            self.answer(413)
            return
        body = self.rfile.read(length)
        if not is_genuine(body, self.headers.get("X-Scan-Signature", "")):
            self.answer(401)
            return
        delivery = self.headers["X-Scan-Delivery"]
        if delivery not in handled:  # a delivery may arrive more than once
            try:
                handle(json.loads(body))
            except Exception:
                traceback.print_exc()
                self.answer(500)  # Scan will retry
                return
            handled.add(delivery)
        self.answer(204)

    def answer(self, status: int) -> None:
        """204 has no body, so that the connection can carry the next event."""
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
            self.close_connection = True
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def handle(event: dict) -> None:
    data = event["data"]
    if data.get("test"):  # sent by POST /api/v1/webhooks/:id/test: nothing happened on the chain
        print("test", event["event"], flush=True)
        return
    verb = "undo" if data.get("removed") else "note"
    if event["event"] == "log":
        subject = data["topics"][0] if data["topics"] else "anonymous"
    elif event["event"] == "dex_trade":
        subject = data["amountIn"]
    else:  # tx, token_transfer, internal_transfer
        subject = data["value"]
    print(verb, event["event"], data["hash"], subject, flush=True)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    if len(sys.argv) > 3:  # omit them behind a TLS proxy
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    print("listening on", server.server_port, flush=True)
    server.serve_forever()
