"""Faults of a node whose response does not end, or is not as long as it says."""

import gzip
import itertools
import time
import zlib

from tests.support.faulty_node import Reply


def stream(*parts, then=b"", every_s=0.0):
    """The parts, and then the same again and again, with a pause after each."""

    def pieces():
        yield from parts
        for piece in itertools.repeat(then) if then else ():
            time.sleep(every_s)
            yield piece

    return lambda _calls, _forward: Reply(stream=pieces())


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
endless_body = stream(_HEAD + b"\r\n", then=b" " * 65536)
endless_chunks = stream(
    _HEAD + b"Transfer-Encoding: chunked\r\n\r\n", then=b"10000\r\n" + b" " * 65536 + b"\r\n"
)
dripping_head = stream(b"HTTP/1.1 200 OK\r\nX-Slow: ", then=b"x", every_s=0.05)
dripping_body = stream(_HEAD + b"\r\n", then=b" ", every_s=0.05)
dripping_chunk_head = stream(_HEAD + b"Transfer-Encoding: chunked\r\n\r\n", then=b"0", every_s=0.05)
endless_head = stream(b"HTTP/1.1 200 OK\r\n", then=b"X-More: " + b"x" * 60000 + b"\r\n")
declares_too_much = stream(_HEAD + b"Content-Length: 1000000000000\r\n\r\n[")
declares_too_little = stream(_HEAD + b'Content-Length: 9\r\n\r\n{"jsonrpc":"2.0","id":0}')


def compressed(body, repeats, layers=1):
    """`body` so many times, in as many layers of gzip, without the end that nobody reads to.

    What follows a full flush refers to nothing before it, so that one piece is compressed and not
    a gigabyte, for which a busy machine takes longer than a node may.
    """
    encoder = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (encoder.compress(body) + encoder.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = first + again * (repeats - 1)
    for _ in range(layers - 1):
        packed = gzip.compress(packed)
    encoding = b"Content-Encoding: " + b", ".join([b"gzip"] * layers) + b"\r\n\r\n"
    return stream(_HEAD + encoding, packed)
