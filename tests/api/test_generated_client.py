"""The document in the hands of others' tools: a linter, and a generator of clients, with which the
examples of the docs are run."""

import json
import os
import sys
from pathlib import Path

import pytest
import requests

from tests.support import WAIT_S, openapi_document
from tests.support.serving import ROOT, completed, gunicorn

EXAMPLES = ROOT / "docs" / "examples"


def run(*command, **environment):
    """What a program prints that ends well."""
    done = completed([str(part) for part in command], env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(openapi_document.DOCUMENT))
    return path


@pytest.mark.thorough
def test_the_linter_has_nothing_to_say(document):
    support = ROOT / "tests" / "support"
    linter = support / "node" / "node_modules" / ".bin" / "redocly"
    quiet = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
    run(linter, "lint", document, "--config", support / "redocly.yaml", **quiet)


@pytest.fixture(scope="module")
def service(own_index):
    settings = own_index.settings
    # The fifth request of a window has to wait for a second.
    with gunicorn(
        settings.database_url,
        RPC_URL=",".join(settings.rpc_urls),
        SCAN_RATE_LIMIT_ANONYMOUS="20 per 1 second",
    ) as address:
        yield address


@pytest.mark.long
def test_examples_read_a_list_by_cursors_and_wait_for_the_limit(service, document, tmp_path):
    options = ("--meta", "none", "--fail-on-warning", "--path", document)
    generate = (sys.executable, "-m", "openapi_python_client", "generate", *options)
    # It formats what it generates with ruff, which it looks for in PATH.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run(*generate, "--output-path", tmp_path / "scan_client", PATH=path)
    [token, *_] = requests.get(f"{service}/api/v1/tokens", timeout=WAIT_S).json()["tokens"]
    address = token["address"]
    path = f"{service}/api/v1/tokens/{address}/transfers?limit=1"
    total = requests.get(path, timeout=WAIT_S).json()["total"]
    cursors = (sys.executable, EXAMPLES / "client_cursors.py", service, address)
    assert run(*cursors, PYTHONPATH=str(tmp_path)) == f"{total} transfers\n"
    retries = (sys.executable, EXAMPLES / "client_retries.py", service, "45")
    assert run(*retries, PYTHONPATH=str(tmp_path)).startswith("newest block ")


@pytest.mark.long
def test_the_example_of_streams_resumes(service, monkeypatch):
    """From a position far back, so that there is something to print at once."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from client_streams import events

    block = requests.get(f"{service}/api/v1/blocks/1", timeout=WAIT_S).json()
    received = events(service, f"{block['number']}-{block['hash']}-0")
    first = [next(received) for _ in range(4)]
    received.close()
    assert all(name == "token_transfers" for name, _, _ in first)
    again = events(service, first[1][1])
    assert [next(again) for _ in range(2)] == first[2:]
    again.close()
