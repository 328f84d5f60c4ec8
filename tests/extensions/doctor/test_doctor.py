"""`scan doctor` on set-ups that are broken in one way each: it names what is wrong, what to do, and
no other error. Every test with `the_error` is such a set-up."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

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
        with postgres.cloned(template) as url, Indexing(url, anvil.url, until=5):
            yield SetUp(anvil, url)


def problems(findings: list[Finding]) -> dict[str, str]:
    """Errors by their subject, but for what the tests' server is started with."""
    return {
        finding["subject"]: finding["text"]
        for finding in findings
        if finding["level"] == "error" and " is off" not in finding["text"]
    }


def the_error(findings: list[Finding], subject: str, text: str, advice: str) -> None:
    """That is the only one."""
    [error] = [f for f in findings if f["level"] == "error" and " is off" not in f["text"]]
    assert error["subject"] == subject
    assert text in error["text"]
    assert advice in error["advice"]


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


NO_DATABASE = "postgresql://postgres@127.0.0.1:1/scan"


@pytest.mark.parametrize(
    ("variable", "value", "subject", "text", "advice"),
    [
        ("RPC_URL", NOWHERE, "node", "does not respond", "correct RPC_URL"),
        ("DATABASE_URL", NO_DATABASE, "database", "cannot be reached", "start PostgreSQL"),
        ("READ_DATABASE_URL", NO_DATABASE, "replica", "cannot be reached", "start the standby"),
        ("SCAN_RATE_LIMIT_STORAGE", "redis://127.0.0.1:1", "limits", "not respond", "start it"),
    ],
)
def test_a_part_that_does_not_respond_is_named(
    sound: SetUp, variable: str, value: str, subject: str, text: str, advice: str
) -> None:
    the_error(sound.examine(**{variable: value}), subject, text, advice)


def test_a_node_of_another_chain(sound: SetUp) -> None:
    with Anvil("--chain-id", "4242") as other:
        findings = sound.examine(RPC_URL=other.url)
    the_error(findings, "node", "holds chain 31337", "one database for each chain")
    assert "chain 4242" in problems(findings)["node"]


def test_one_of_several_nodes(sound: SetUp) -> None:
    findings = sound.examine(RPC_URL=f"{sound.anvil.url},{NOWHERE}")
    the_error(findings, "node 2", "does not respond", "start it, or correct RPC_URL")


def test_a_node_that_is_no_node(sound: SetUp, shared_server: str) -> None:
    findings = sound.examine(RPC_URL=shared_server)
    the_error(findings, "node", "HTTP 405", "correct RPC_URL")


@pytest.mark.parametrize(
    ("methods", "text", "advice"),
    [
        (("debug_traceBlockByHash", "trace_block"), "no traces", "enable its debug API"),
        (("eth_getBlockReceipts",), "does not offer eth_getBlockReceipts", "upgrade it"),
    ],
)
def test_a_node_that_lacks_methods(
    sound: SetUp, methods: tuple[str, ...], text: str, advice: str
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
    assert problems(findings) == {}
    [warning] = [f for f in findings if text in f["text"]]
    assert warning["level"] == "warning" and advice in warning["advice"]


def test_a_node_ahead_of_this_machines_clock(sound: SetUp) -> None:
    with Anvil() as ahead:
        ahead.call("evm_setNextBlockTimestamp", int(time.time()) + 3600)
        ahead.call("anvil_mine", "0x1")
        findings = sound.examine(RPC_URL=ahead.url, DATABASE_URL="")
    rest = [f for f in findings if f["subject"] != "database"]
    the_error(rest, "node", "ahead of this machine's clock", "NTP")


def test_a_database_that_takes_no_writes(sound: SetUp) -> None:
    url = f"{sound.database_url}&options=-cdefault_transaction_read_only%3Don"
    the_error(sound.examine(DATABASE_URL=url), "database", "read-only", "READ_DATABASE_URL")


def test_a_schema_of_an_older_version(sound: SetUp) -> None:
    execute(sound.database_url, "UPDATE schema_state SET digest = '\\x01'")
    planned = scan("migrate", "--plan", DATABASE_URL=sound.database_url)
    assert planned.stdout.startswith("schema.sql: ")
    the_error(sound.examine(), "database", "not current: schema.sql", "run `scan migrate`")
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
    the_error(sound.examine(), "database", "invalid indexes: twice_value", "REINDEX")
    cursor.execute("DROP TABLE twice")
    connection.close()


def test_a_compiler_that_does_not_run(sound: SetUp, tmp_path: Path) -> None:
    program = tmp_path / "solc-0.8.26" / "solc-0.8.26"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    findings = sound.examine(SCAN_SOLC_DIR=str(tmp_path))
    the_error(findings, "compilers", "does not run", "install it again")


@pytest.mark.parametrize(("proxies", "is_believed"), [("0", False), ("1", True)])
def test_clients_that_can_choose_their_address(
    sound: SetUp, proxies: str, is_believed: bool
) -> None:
    with gunicorn(
        sound.database_url, RPC_URL=sound.anvil.url, SCAN_TRUSTED_PROXIES=proxies
    ) as address:
        findings = sound.examine("--url", address)
    if is_believed:
        the_error(findings, "proxies", "can choose its address", "SCAN_TRUSTED_PROXIES must be")
    else:
        assert problems(findings) == {}


def test_without_any_database_it_says_where_to_get_one(tmp_path: Path, sound: SetUp) -> None:
    findings = sound.examine(DATABASE_URL="", SCAN_DATA_DIR=str(tmp_path))
    the_error(findings, "database", "DATABASE_URL is not set", "start `scan run`")


def test_a_service_that_is_away(sound: SetUp) -> None:
    findings = sound.examine("--url", NOWHERE)
    the_error(findings, "service", "no response", "correct --url")


def test_the_text_has_one_line_per_check_and_advice_below(sound: SetUp) -> None:
    done = scan("doctor", RPC_URL=NOWHERE, DATABASE_URL=sound.database_url)
    lines = done.stdout.splitlines()
    [line] = [n for n, line in enumerate(lines) if line.startswith("error    node")]
    assert lines[line + 1].strip().startswith("-> ")
