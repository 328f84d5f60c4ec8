"""What a node whose state no test changes has answered to the service, once for each request."""

import hashlib
import os
import threading
from contextlib import contextmanager

import pytest

from scan.ethereum.transport import Transport
from tests.support import faulty_node


@contextmanager
def kept_answers(url, folder):
    """Let the node at `url` see each request of this process only once, and not where another
    process has put the answer into `folder`. Of an index of its chain the node takes two thirds."""
    folder.mkdir(exist_ok=True)
    post, answers = Transport._post_http, dict[str, bytes]()

    def kept(transport, to, body, ends_at, most_bytes):
        if to != url:
            return post(transport, to, body, ends_at, most_bytes)
        request = f"{hashlib.sha256(body).hexdigest()}-{most_bytes}"
        if request not in answers:
            file = folder / request
            if not file.exists():
                unfinished = folder / f"{request}-{os.getpid()}-{threading.get_ident()}"
                unfinished.write_bytes(post(transport, to, body, ends_at, most_bytes))
                unfinished.rename(file)
            answers[request] = file.read_bytes()
        return answers[request]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transport, "_post_http", kept)
        patch.setitem(faulty_node.ANSWERS, url, {})
        yield
