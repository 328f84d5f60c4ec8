"""What is logged, in each format."""

import io
import logging

import pytest

from scan.observability import logs
from scan.settings import Settings

NODE = "https://user:pa55word@node.example/v3/0a1b2c3d4e5f?token=s3cret"


@pytest.fixture(params=["text", "json"])
def lines(request):
    """What the root logger writes in either format, and requests with it."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    logs.configure(Settings(rpc_urls=(NODE,), log_format=request.param))
    stream = io.StringIO()
    handler = root.handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    yield stream
    root.handlers[:] = before
    root.setLevel(level)
