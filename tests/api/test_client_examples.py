"""The examples of the docs, with the client that `make release` generates."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests.support.indexing import Indexing
from tests.support.serving import ROOT, gunicorn

EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(scope="module")
def service(indexed: Indexing) -> Iterator[str]:
    settings = indexed.settings
    # The fifth request of a window has to wait for a second.
    with gunicorn(
        settings.database_url,
        RPC_URL=",".join(settings.rpc_urls),
        SCAN_RATE_LIMIT_ANONYMOUS="20 per 1 second",
    ) as address:
        yield address


def run(example: str, folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / example, *arguments],
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_cursors_read_every_transfer_of_a_token(service: str, client_folder: Path) -> None:
    tokens = requests.get(f"{service}/api/v1/tokens", timeout=10).json()["tokens"]
    lists = [
        (
            token["address"],
            requests.get(
                f"{service}/api/v1/tokens/{token['address']}/transfers?limit=1", timeout=10
            ).json()["total"],
        )
        for token in tokens[:5]
    ]
    address, total = max(lists, key=lambda item: item[1])
    assert total > 0
    printed = run("client_cursors.py", client_folder, service, address)
    assert printed == f"{total} transfers\n"


def test_retries_wait_for_the_limit(service: str, client_folder: Path) -> None:
    printed = run("client_retries.py", client_folder, service, "45")
    assert printed.startswith("newest block ")


def test_streams_resume(service: str, client_folder: Path) -> None:
    """From a position far back, so that there is something to print at once."""
    sys.path.insert(0, str(EXAMPLES))
    try:
        from client_streams import events  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(EXAMPLES))
    block = requests.get(f"{service}/api/v1/blocks/1", timeout=10).json()
    received = events(service, f"{block['number']}-{block['hash']}-0")
    first = [next(received) for _ in range(4)]
    received.close()
    assert all(name == "token_transfers" for name, _, _ in first)
    again = events(service, first[1][1])
    assert [next(again) for _ in range(2)] == first[2:]
    again.close()
