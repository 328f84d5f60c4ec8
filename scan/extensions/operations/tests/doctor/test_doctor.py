"""`scan doctor` on set-ups that are broken in one way each: it names what is wrong, what to do, and
no other error. Every test with `the_error` is such a set-up."""

import json
import time
from collections import namedtuple

import psycopg2
import pytest

from tests.support import anvil, database, faulty_node, indexing
from tests.support.scan_command import scan
from tests.support.serving import NOWHERE, gunicorn


class SetUp(namedtuple("SetUp", "anvil database_url")):
    """A node and its index, both sound."""

    def examine(self, *arguments, **environment):
        given = {"DATABASE_URL": self.database_url, "RPC_URL": self.anvil.url, **environment}
        done = scan("doctor", "--json", *arguments, **given)
        findings = json.loads(done.stdout)
        has_errors = any(finding["level"] == "error" for finding in findings)
        assert done.returncode == (1 if has_errors else 0), done.stderr
        return findings


@pytest.fixture(scope="module")
def sound(postgres, template, shared_anvil):
    shared_anvil.call("anvil_mine", hex(200))
    with postgres.cloned(template) as url, indexing.Indexing(url, shared_anvil.url, until=200):
        yield SetUp(shared_anvil, url)


def errors(findings):
    """But for what the tests' server is started with."""
    return [f for f in findings if f["level"] == "error" and " is off" not in f["text"]]


def the_error(findings, subject, text, advice):
    """That is the only one."""
    [error] = errors(findings)
    assert error["subject"] == subject
    assert text in error["text"]
    assert advice in error["advice"]


def test_a_sound_set_up_has_no_errors(sound):
    findings = sound.examine()
    assert errors(findings) == []
    texts = " ".join(finding["text"] for finding in findings)
    for words in ("chain 31337, block 200", "an archive", "traces by", "schema is current"):
        assert words in texts
    assert all(finding["advice"] for finding in findings if finding["level"] == "error")


NO_DATABASE = "postgresql://postgres@127.0.0.1:1/scan"


# What is set, with {node} for the sound one, and of the error its subject, text and advice.
@pytest.mark.parametrize(
    "broken",
    (
        ({"RPC_URL": NOWHERE}, "node", "does not respond", "correct RPC_URL"),
        ({"RPC_URL": f"{{node}},{NOWHERE}"}, "node 2", "does not respond", "start it, or correct"),
        ({"RPC_URL": "{server}"}, "node", "HTTP 405", "correct RPC_URL"),
        ({"DATABASE_URL": NO_DATABASE}, "database", "cannot be reached", "start PostgreSQL"),
        (
            {"DATABASE_URL": "{database}&options=-cdefault_transaction_read_only%3Don"},
            "database",
            "read-only",
            "READ_DATABASE_URL",
        ),
        (
            {"DATABASE_URL": "", "SCAN_DATA_DIR": "{folder}"},
            "database",
            "DATABASE_URL is not set",
            "scan run`",
        ),
        ({"READ_DATABASE_URL": NO_DATABASE}, "replica", "cannot be reached", "start the standby"),
        (
            {"SCAN_RATE_LIMIT_STORAGE": "redis://127.0.0.1:1"},
            "limits",
            "refused",
            "start or mend it",
        ),
        ({"SCAN_SOLC_DIR": "{compilers}"}, "compilers", "does not run", "install it again"),
        ({"--url": NOWHERE}, "service", "no response", "correct --url"),
    ),
    ids=lambda broken: " ".join(broken[1:3]),
)
def test_what_is_set_wrong_is_named(sound, shared_server, tmp_path, broken):
    program = tmp_path / "compilers" / "solc-0.8.26" / "solc-0.8.26"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    locations = {"node": sound.anvil.url, "server": shared_server, "database": sound.database_url}
    locations |= {"folder": str(tmp_path), "compilers": str(tmp_path / "compilers")}
    changes, *error = broken
    environment = {name: value.format_map(locations) for name, value in changes.items()}
    url = environment.pop("--url", None)
    the_error(sound.examine(*(("--url", url) if url else ()), **environment), *error)


def test_a_node_of_another_chain(sound):
    with anvil.Anvil("--chain-id", "4242") as other:
        findings = sound.examine(RPC_URL=other.url)
    the_error(findings, "node", "holds chain 31337", "one database for each chain")
    assert "chain 4242" in errors(findings)[0]["text"]


@pytest.mark.parametrize(
    ("fault", "text", "advice"),
    [
        (
            faulty_node.refuse(
                lambda call: call["method"] in ("debug_traceBlockByHash", "trace_block")
            ),
            *("no traces", "enable its debug API"),
        ),
        (
            faulty_node.refuse(lambda call: call["method"] == "eth_getBlockReceipts"),
            *("does not offer eth_getBlockReceipts", "upgrade it"),
        ),
        (  # whatever its words are
            faulty_node.without_old_state(8, -39999, "ask somebody older"),
            *("state of recent blocks only", "archive node"),
        ),
    ],
    ids=["traces", "receipts", "old state"],
)
def test_what_a_node_lacks_is_a_warning(sound, fault, text, advice):
    with faulty_node.FaultyNode(sound.anvil.url, fault) as node:
        findings = sound.examine(RPC_URL=node.url)
    assert errors(findings) == []
    [warning] = [f for f in findings if text in f["text"]]
    assert warning["level"] == "warning" and advice in warning["advice"]


@pytest.mark.thorough
def test_a_node_ahead_of_this_machines_clock(sound):
    with anvil.Anvil() as ahead:
        ahead.call("evm_setNextBlockTimestamp", int(time.time()) + 3600)
        ahead.call("anvil_mine", "0x1")
        findings = sound.examine(RPC_URL=ahead.url, DATABASE_URL="")
    rest = [f for f in findings if f["subject"] != "database"]
    the_error(rest, "node", "ahead of this machine's clock", "NTP")


def test_a_schema_of_an_older_version(sound):
    database.execute(sound.database_url, "UPDATE schema_state SET digest = '\\x01'")
    planned = scan("migrate", "--plan", DATABASE_URL=sound.database_url)
    assert planned.stdout.startswith("schema.sql: ")
    the_error(sound.examine(), "database", "not current: schema.sql", "scan migrate`")
    scan("migrate", DATABASE_URL=sound.database_url)
    expected = "the schema is current\n"
    assert scan("migrate", "--plan", DATABASE_URL=sound.database_url).stdout == expected
    assert errors(sound.examine()) == []


def test_an_invalid_index(sound):
    """As CREATE INDEX CONCURRENTLY leaves one that was interrupted."""
    url = sound.database_url
    database.execute(url, "CREATE TABLE twice AS SELECT 1 AS value FROM generate_series(1, 2)")
    with pytest.raises(psycopg2.errors.UniqueViolation):
        database.execute(url, "CREATE UNIQUE INDEX CONCURRENTLY twice_value ON twice (value)")
    the_error(sound.examine(), "database", "invalid indexes: twice_value", "REINDEX")
    database.execute(url, "DROP TABLE twice")


@pytest.mark.thorough
def test_clients_that_can_choose_their_address(sound, shared_server):
    """Where a proxy is trusted that is not there; not where none is trusted."""
    environment = {"RPC_URL": sound.anvil.url, "SCAN_TRUSTED_PROXIES": "1"}
    with gunicorn(sound.database_url, **environment) as address:
        findings = sound.examine("--url", address)
    the_error(findings, "proxies", "can choose its address", "SCAN_TRUSTED_PROXIES must be")
    untrusting = errors(sound.examine("--url", shared_server))
    assert "proxies" not in {error["subject"] for error in untrusting}


@pytest.mark.thorough
def test_a_node_cannot_write_lines_of_the_report(sound):
    fault = faulty_node.node_error(-32000, "no\nok       node       all is well\x1b[2J")
    with faulty_node.FaultyNode(sound.anvil.url, fault) as node:
        done = scan("doctor", RPC_URL=node.url, DATABASE_URL="")
    assert r"no\nok       node       all is well\u001b[2J" in done.stdout


@pytest.mark.parametrize(
    ("given", "taken"),
    [
        ({"SCAN_SOURCES_DIR": "/elsewhere", "RPC_URL": NOWHERE}, ["SCAN_SOURCES_DIR"]),
        pytest.param({"SCAN_START_BLOCK": "5"}, ["SCAN_START_BLOCK"], marks=pytest.mark.thorough),
        pytest.param({"SCAN_START_BLOCK": "5", "RPC_URL": NOWHERE}, [], marks=pytest.mark.thorough),
        (
            {
                "SCAN_SOURCES_DIR": "/x",
                "DATABASE_URL": "postgresql://127.0.0.1:1/x",
                "RPC_URL": NOWHERE,
            },
            [],
        ),
    ],
)
def test_settings_that_scan_run_replaces_are_named(given, taken):
    findings = json.loads(scan("doctor", "--json", **given).stdout)
    named = [f["text"].split()[0] for f in findings if "scan run`, which uses" in f["text"]]
    assert named == taken
