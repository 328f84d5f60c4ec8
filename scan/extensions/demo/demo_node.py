"""A JSON-RPC node on loopback that replays a recording: the demo chain, or one by
`scan doctor --record`."""

import argparse
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import orjson

from scan.extensions.demo.replay import Outcome, Recording, RpcFault
from scan.settings import ROOT

RECORDING = ROOT / "demo" / "chain.jsonl.gz"
MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_BATCH = 10_000
IDLE_TIMEOUT_S = 60
STOP_S = 0.05  # what stop() takes at most


def response_body(recording: Recording, body: bytes) -> bytes:
    """Return the response to one request or a batch; b"" if it has only notifications."""
    try:
        payload = orjson.loads(body)
    except orjson.JSONDecodeError:
        return orjson.dumps(_reply(None, RpcFault(-32700, "the body is not JSON").outcome))
    if not isinstance(payload, list):
        reply = _reply_to(recording, payload)
        return b"" if reply is None else orjson.dumps(reply)
    if not 0 < len(payload) <= MAX_BATCH:
        reason = f"a batch must have 1 to {MAX_BATCH} requests"
        return orjson.dumps(_reply(None, RpcFault(-32600, reason).outcome))
    replies = [reply for request in payload if (reply := _reply_to(recording, request)) is not None]
    return orjson.dumps(replies) if replies else b""


def _reply_to(recording: Recording, request: Any) -> Outcome | None:
    """Return the reply to a request; None for a notification, which has no id."""
    if not isinstance(request, dict) or not isinstance(request.get("method"), str):
        fault = RpcFault(-32600, "a request must be an object with a method")
        return _reply(_id_of(request), fault.outcome)
    if "id" not in request:
        return None
    try:
        params = request.get("params", [])
        if not isinstance(params, list):
            raise RpcFault(-32602, "params must be an array")
        return _reply(_id_of(request), recording.respond(request["method"], params))
    except RpcFault as fault:
        return _reply(_id_of(request), fault.outcome)


def _id_of(request: Any) -> Any:
    request_id = request.get("id") if isinstance(request, dict) else None
    return request_id if isinstance(request_id, str | int | float) else None


def _reply(request_id: Any, outcome: Outcome) -> Outcome:
    return {"jsonrpc": "2.0", "id": request_id, **outcome}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT_S
    # Headers and body are two writes; with Nagle's algorithm a response would take 40 ms more.
    disable_nagle_algorithm = True
    server: "DemoNode"

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self._refuse(411, "Content-Length is required")
        elif int(length) > MAX_BODY_BYTES:
            self._refuse(413, f"the body must have at most {MAX_BODY_BYTES} bytes")
        else:
            self._send(200, response_body(self.server.recording, self.rfile.read(int(length))))

    def do_GET(self) -> None:
        self._refuse(405, "JSON-RPC requests must use POST")

    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_HEAD = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: an indexer that catches up sends thousands of requests."""

    def _refuse(self, status: int, reason: str) -> None:
        # The rest of the body would be read as the next request.
        self.close_connection = True
        self._send(status, orjson.dumps(_reply(None, RpcFault(-32600, reason).outcome)))

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


class DemoNode(ThreadingHTTPServer):
    """The node's HTTP server, which serves on loopback in its own thread until stop()."""

    daemon_threads = True

    def __init__(self, recording: Recording, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.recording = recording
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        serve = self.serve_forever
        self._thread = threading.Thread(target=serve, args=(STOP_S,), name="demo-node", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def wait(self) -> None:
        self._thread.join()


def start(path: Path, port: int = 0) -> DemoNode:
    """Serve the recording at `path`. With port 0 a free port is used, which `url` has."""
    return DemoNode(Recording.read(path), port)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scan.extensions.demo.demo_node", description=__doc__
    )
    parser.add_argument("path", nargs="?", type=Path, default=RECORDING, help="the recording")
    parser.add_argument("--port", type=int, default=8545, help="0: any free port")
    arguments = parser.parse_args()
    node = start(arguments.path, arguments.port)
    recording = node.recording
    print(f"blocks {recording.first} to {recording.head} on {node.url}", flush=True)
    try:
        node.wait()
    except KeyboardInterrupt:
        node.stop()
        sys.exit(130)


if __name__ == "__main__":
    main()
