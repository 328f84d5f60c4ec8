"""What scan/http uses of gunicorn beyond its settings: a new gunicorn that lacks one fails here."""

import inspect
from typing import Any

import gunicorn
import pytest
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.http import body, errors, message, parser, unreader, wsgi
from gunicorn.workers.gthread import PollableMethodQueue, ThreadWorker

from scan.server.chunked_body import ChunkedBody
from scan.server.received_bytes import MoreNeeded, ReceivedBytes

pytestmark = pytest.mark.check

CLASSES: list[tuple[Any, list[str]]] = [
    (ThreadWorker, ["accept", "run", "murder_pending", "set_accept_enabled", "load_wsgi"]),
    (PollableMethodQueue, ["defer"]),
    (parser, ["RequestParser"]),
    (parser.RequestParser, ["__next__", "finish_body"]),
    (unreader, ["Unreader"]),
    (unreader.Unreader, ["chunk", "read", "unread", "take_buffered"]),
    (body, ["Body", "ChunkedReader", "LengthReader"]),
    (body.ChunkedReader, ["read", "parse_chunked", "parse_chunk_size"]),
    (message, ["Request"]),
    (message.Request, ["should_close"]),
    (wsgi, ["create", "Response"]),
    (wsgi.Response, ["start_response", "write", "close", "should_close", "force_close"]),
    (Logger, ["access", "setup"]),
    (
        errors,
        [
            *("ParseException", "NoMoreData", "LimitRequestLine", "LimitRequestHeaders"),
            *("ExpectationFailed", "UnsupportedTransferCoding", "InvalidChunkSize"),
        ],
    ),
]
CALLED_BY_RUN = ["set_accept_enabled", "murder_pending"]
OF_A_WORKER = [
    *("poller", "tpool", "method_queue", "nr_conns", "worker_connections"),
    *("alive", "sockets", "cfg", "log"),
]
SETTINGS = [
    *("keepalive", "worker_connections", "threads", "graceful_timeout", "limit_request_line"),
    *("limit_request_fields", "limit_request_field_size", "control_socket_disable", "sendfile"),
    *("forwarded_allow_ips", "secure_scheme_headers", "forwarder_headers"),
]


def require(owner: Any, *names: str) -> None:
    missing = [name for name in names if not hasattr(owner, name)]
    where = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", type(owner).__name__)
    assert not missing, (
        f"gunicorn {gunicorn.__version__} has no {', '.join(missing)} in {where}; scan/http uses it"
    )


@pytest.mark.parametrize(
    ("owner", "names"), CLASSES, ids=lambda value: getattr(value, "__name__", "")
)
def test_gunicorn_has_the_classes_and_methods(owner: Any, names: list[str]) -> None:
    require(owner, *names)


def test_gunicorn_has_the_settings() -> None:
    require(Config(), *SETTINGS)


def test_settings_may_be_plain_attributes() -> None:
    cfg = Config()
    cfg.__dict__.update((name, each.get()) for name, each in cfg.settings.items())
    assert cfg.keepalive == Config().keepalive
    require(cfg, "is_ssl", "forwarded_allow_networks")


def test_the_loop_calls_what_the_worker_overrides() -> None:
    called = ThreadWorker.run.__code__.co_names
    missing = [name for name in CALLED_BY_RUN if name not in called]
    assert not missing, f"gunicorn {gunicorn.__version__}: ThreadWorker.run() calls no {missing}"


def test_a_worker_has_the_attributes() -> None:
    class Application:
        def wsgi(self) -> str:
            return "application"

    worker = ThreadWorker(1, 1, [], Application(), 30, Config(), None)
    require(worker, *OF_A_WORKER)
    worker.load_wsgi()
    require(worker, "wsgi")


def received(data: bytes) -> ReceivedBytes:
    bytes_ = ReceivedBytes()
    bytes_.data += data
    return bytes_


def parsed(data: bytes) -> tuple[Any, Any]:
    requests = parser.RequestParser(Config(), (), ("127.0.0.1", 1))
    require(requests, "unreader")
    requests.unreader = received(data)
    return requests, next(requests)


def test_a_parser_reads_what_it_is_given() -> None:
    requests, request = parsed(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET")
    require(request, "body", "method", "version")
    require(request.body, "reader", "failed", "read")
    require(request.body.reader, "length")
    assert request.body.reader.length == 3 and not request.body.failed
    assert requests.finish_body() and requests.unreader.read() == b"GET"


def test_a_request_without_a_body_has_a_length_of_none() -> None:
    _, request = parsed(b"GET / HTTP/1.1\r\n\r\n")
    assert request.body.reader.length == 0


def test_a_reader_of_chunks_goes_on_where_it_had_to_stop() -> None:
    requests, request = parsed(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n")
    assert isinstance(request.body.reader, body.ChunkedReader)
    require(request.body.reader, "parser", "buf")
    bytes_ = requests.unreader
    bytes_.release()
    chunks = ChunkedBody(request, bytes_)
    whole = b"3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
    for byte in whole[:-1]:
        bytes_.data.append(byte)
        with pytest.raises(MoreNeeded):
            chunks.decode(10)
    bytes_.data += b"\nGET"
    assert chunks.decode(10) == b"abcde" and bytes_.read() == b"GET"


def test_a_response_is_written_to_what_it_is_given() -> None:
    class Sent:
        data = b""

        def sendall(self, data: bytes) -> None:
            self.data += data

    _, request = parsed(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    sent = Sent()
    response, environ = wsgi.create(request, sent, ("127.0.0.1", 1), ("127.0.0.1", 2), Config())
    require(response, "headers_sent")
    response.start_response("200 OK", [("Content-Length", "2")])
    response.write(b"ok")
    response.close()
    assert sent.data.startswith(b"HTTP/1.1 200 OK\r\n") and sent.data.endswith(b"\r\n\r\nok")
    assert response.headers_sent and not response.should_close()
    used = {"wsgi.input", "REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "REMOTE_ADDR"}
    assert used <= environ.keys()


def test_what_connections_are_made_from_has_the_signatures() -> None:
    """Positional, in this order."""
    for function, names in (
        (parser.RequestParser.__init__, ["self", "cfg", "source", "source_addr"]),
        (wsgi.create, ["req", "sock", "client", "server", "cfg"]),
        (body.ChunkedReader.__init__, ["self", "req", "unreader"]),
        (body.ChunkedReader.parse_chunk_size, ["self", "unreader", "data"]),
        (unreader.Unreader.chunk, ["self", "size_hint"]),
        (wsgi.Response.__init__, ["self", "req", "sock", "cfg"]),
    ):
        found = list(inspect.signature(function).parameters)
        assert found[: len(names)] == names, f"gunicorn {gunicorn.__version__}: {function}"
