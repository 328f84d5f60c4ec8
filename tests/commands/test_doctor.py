"""`scan doctor` on set-ups that are broken in one way each: it names what is wrong, and no more."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from tests.commands.test_command import scan
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.faulty_node import FaultyNode, Reply, refuse_method
from tests.support.indexing import Indexing
from tests.support.serving import NOWHERE, gunicorn

Finding = dict[str, str]


class SetUp:
    """A node and its index, both sound."""

    def __init__(self, anvil: Anvil, database_url: str) -> None:
        self.anvil = anvil
        self.database_url = database_url

    def examine(self, *arguments: str, **environment: str) -> list[Finding]:
        given = {"DATABASE_URL": self.database_url, "RPC_URL": self.anvil.url, **environment}
        done = scan("doctor", "--json", *arguments, **given)
        findings: list[Finding] = json.loads(done.stdout)
        has_errors = any(finding["level"] == "error" for finding in findings)
        assert done.returncode == (1 if has_errors else 0), done.stderr
        return findings


@pytest.fixture(scope="module")
def sound(postgres: Postgres, template: str) -> Iterator[SetUp]:
    with Anvil() as anvil:
        anvil.call("anvil_mine", "0x5")
        with postgres.cloned(template) as url, Indexing(url, anvil.url) as indexing:
            indexing.wait_for(5)
            yield SetUp(anvil, url)


def problems(findings: list[Finding]) -> dict[str, str]:
    """Errors by their subject, but for what the tests' server is started with."""
    return {
        finding["subject"]: finding["text"]
        for finding in findings
        if finding["level"] == "error" and " is off" not in finding["text"]
    }


def test_a_sound_set_up_has_no_errors(sound: SetUp) -> None:
    findings = sound.examine()
    assert problems(findings) == {}
    texts = " ".join(finding["text"] for finding in findings)
    for words in ("chain 31337, block 5", "an archive", "traces by", "schema is current"):
        assert words in texts
    assert all(finding["advice"] for finding in findings if finding["level"] == "error")


def test_settings_of_the_server_that_lose_data_are_errors(sound: SetUp) -> None:
    """The tests' server runs without fsync."""
    [row] = execute(sound.database_url, "SHOW fsync")
    off = [f for f in sound.examine() if "fsync is off" in f["text"]]
    assert len(off) == (row[0] == "off")


@pytest.mark.parametrize(
    ("variable", "value", "subject", "words"),
    [
        ("RPC_URL", NOWHERE, "node", "does not respond"),
        ("DATABASE_URL", "postgresql://postgres@127.0.0.1:1/scan", "database", ""),
        ("READ_DATABASE_URL", "postgresql://postgres@127.0.0.1:1/scan", "replica", ""),
        ("SCAN_RATE_LIMIT_STORAGE", "redis://127.0.0.1:1", "limits", "does not respond"),
    ],
)
def test_a_part_that_does_not_respond_is_named(
    sound: SetUp, variable: str, value: str, subject: str, words: str
) -> None:
    found = problems(sound.examine(**{variable: value}))
    assert subject in found and words in found[subject]


def test_a_node_of_another_chain(sound: SetUp) -> None:
    with Anvil("--chain-id", "4242") as other:
        text = problems(sound.examine(RPC_URL=other.url))["node"]
    assert "chain 31337" in text and "chain 4242" in text


def test_one_of_several_nodes(sound: SetUp) -> None:
    found = problems(sound.examine(RPC_URL=f"{sound.anvil.url},{NOWHERE}"))
    assert list(found) == ["node 2"]


def test_a_node_that_is_no_node(sound: SetUp, shared_server: str) -> None:
    assert "node" in problems(sound.examine(RPC_URL=shared_server))


@pytest.mark.parametrize(
    ("methods", "level", "words"),
    [
        (("debug_traceBlockByHash", "trace_block"), "warning", "no traces"),
        (("eth_getBlockReceipts",), "warning", "eth_getBlockReceipts"),
    ],
)
def test_a_node_that_lacks_methods(
    sound: SetUp, methods: tuple[str, ...], level: str, words: str
) -> None:
    with FaultyNode(sound.anvil.url) as node:
        refusals = [refuse_method(method) for method in methods]
        node.fault = lambda calls, forward: next(
            (
                refuse(calls, forward)
                for method, refuse in zip(methods, refusals, strict=True)
                if any(call["method"] == method for call in calls)
            ),
            Reply(body=forward(calls)),
        )
        findings = sound.examine(RPC_URL=node.url)
    assert [f["level"] for f in findings if words in f["text"]] == [level]


def test_a_node_ahead_of_this_machines_clock(sound: SetUp) -> None:
    with Anvil() as ahead:
        ahead.call("evm_setNextBlockTimestamp", int(time.time()) + 3600)
        ahead.call("anvil_mine", "0x1")
        found = sound.examine(RPC_URL=ahead.url, DATABASE_URL="")
    assert any("ahead of this machine's clock" in f["text"] for f in found)


def test_a_database_that_takes_no_writes(sound: SetUp) -> None:
    url = f"{sound.database_url}&options=-cdefault_transaction_read_only%3Don"
    assert "read-only" in problems(sound.examine(DATABASE_URL=url))["database"]


def test_a_schema_of_an_older_version(sound: SetUp) -> None:
    execute(sound.database_url, "UPDATE schema_state SET digest = '\\x01'")
    planned = scan("migrate", "--plan", DATABASE_URL=sound.database_url)
    assert planned.stdout.startswith("schema.sql: ")
    assert "not current: schema.sql" in problems(sound.examine())["database"]
    scan("migrate", DATABASE_URL=sound.database_url)
    assert scan("migrate", "--plan", DATABASE_URL=sound.database_url).stdout == (
        "the schema is current\n"
    )
    assert problems(sound.examine()) == {}


def test_an_invalid_index(sound: SetUp) -> None:
    """As CREATE INDEX CONCURRENTLY leaves one that was interrupted."""
    connection = psycopg2.connect(sound.database_url)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE twice (value integer)")
    cursor.execute("INSERT INTO twice VALUES (1), (1)")
    with pytest.raises(psycopg2.errors.UniqueViolation):
        cursor.execute("CREATE UNIQUE INDEX CONCURRENTLY twice_value ON twice (value)")
    assert "twice_value" in problems(sound.examine())["database"]
    cursor.execute("DROP TABLE twice")
    connection.close()


def test_a_compiler_that_does_not_run(sound: SetUp, tmp_path: Path) -> None:
    program = tmp_path / "solc-0.8.26" / "solc-0.8.26"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert "does not run" in problems(sound.examine(SCAN_SOLC_DIR=str(tmp_path)))["compilers"]


@pytest.mark.parametrize(("proxies", "is_believed"), [("0", False), ("1", True)])
def test_clients_that_can_choose_their_address(
    sound: SetUp, proxies: str, is_believed: bool
) -> None:
    with gunicorn(
        sound.database_url, RPC_URL=sound.anvil.url, SCAN_TRUSTED_PROXIES=proxies
    ) as address:
        found = problems(sound.examine("--url", address))
    assert ("proxies" in found) == is_believed


def test_without_any_database_it_says_where_to_get_one(tmp_path: Path, sound: SetUp) -> None:
    findings: Any = sound.examine(DATABASE_URL="", SCAN_DATA_DIR=str(tmp_path))
    assert "DATABASE_URL is not set" in problems(findings)["database"]


def test_the_text_has_one_line_per_check_and_advice_below(sound: SetUp) -> None:
    done = scan("doctor", RPC_URL=NOWHERE, DATABASE_URL=sound.database_url)
    lines = done.stdout.splitlines()
    [line] = [n for n, line in enumerate(lines) if line.startswith("error    node")]
    assert lines[line + 1].strip().startswith("-> ")
