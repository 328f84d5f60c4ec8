"""The document in the hands of others' tools: a linter, and a generator of clients."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.openapi_document import DOCUMENT

TESTS = Path(__file__).resolve().parent.parent / "support"
LINTER = TESTS / "node" / "node_modules" / ".bin" / "redocly"
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}
PACKAGE = "scan_client"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("openapi") / "openapi.json"
    path.write_text(json.dumps(DOCUMENT))
    return path


def run(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **QUIET},
    )


def test_the_linter_has_nothing_to_say(document: Path) -> None:
    told = run(LINTER, "lint", document, "--config", TESTS / "redocly.yaml", "--format", "summary")
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.fixture(scope="module")
def generated(client_folder: Path) -> Iterator[ModuleType]:
    sys.path.insert(0, str(client_folder))
    yield import_module(PACKAGE)
    sys.path.remove(str(client_folder))


def call(module: str, client: object, *path: object, **arguments: object) -> object:
    """What a generated function makes of the answer."""
    function = import_module(f"{PACKAGE}.api.{module}")
    return function.sync(*path, client=client, **arguments)


def model(name: str) -> type:
    return getattr(import_module(f"{PACKAGE}.models"), name)


def test_a_generated_client_reads_the_running_service(
    generated: ModuleType, over_http: str
) -> None:
    client = generated.Client(base_url=over_http, raise_on_unexpected_status=True)
    stats = call("chain.get_stats", client)
    assert stats.latest_block > 0 and int(stats.avg_gas_price) > 0
    blocks = call("chain.list_blocks", client, page=2, limit=3)
    assert blocks.total == stats.latest_block + 1
    assert blocks.blocks[0].number == stats.latest_block - 3
    block = call("chain.get_block", client, blocks.blocks[0].hash_)
    assert block.to_dict().items() >= blocks.blocks[0].to_dict().items()
    newest = call("chain.list_transactions", client, limit=1).transactions[0]
    address = call("chain.get_address", client, newest.from_address)
    assert address.recent_txs[0].hash_ == newest.hash_


def test_a_generated_client_asks_queries(generated: ModuleType, over_http: str) -> None:
    client = generated.Client(base_url=over_http, raise_on_unexpected_status=True)
    asked = {"entity": "blocks", "filter": {"blockTo": 2}, "orderBy": "asc", "limit": 2}
    found = call("chain.query", client, body=model("BlocksQuery").from_dict(asked))
    assert (found.entity, found.count) == ("blocks", 2)


def test_a_generated_client_understands_refusals(generated: ModuleType, over_http: str) -> None:
    client = generated.Client(base_url=over_http, raise_on_unexpected_status=True)
    missing = call("chain.get_block", client, "999999999")
    assert missing.to_dict()["code"] == "not_found"
    wrong = call("chain.list_blocks", client, limit=101)
    assert (wrong.to_dict()["code"], wrong.to_dict()["field"]) == ("invalid_parameter", "limit")
