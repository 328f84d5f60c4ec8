"""The `scan` command as a person or a script calls it, `scan key request` among them."""

import argparse
import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from unittest.mock import Mock

import pytest
import requests
from eth_account.messages import encode_defunct

from scan import registry
from scan.commands import COMMANDS, main, run, service_client
from scan.commands.database_commands import DataDirInUse, locked_data_dir
from scan.database.errors import UNREACHABLE, Unreachable
from scan.ethereum.client import Node
from scan.indexer.chain_identity import read_identity
from scan.settings import Settings
from tests.support import WAIT_S, database, faulty_node, indexing, serving, wallets
from tests.support.scan_command import OWNERS, require_help, scan
from tests.support.serving import NOWHERE, ROOT, completed, free_port

NOBODY = "postgresql://nobody@127.0.0.1:1/none"
SIGNED = ("--owner", f"0x{40 * '1'}", "--signature", "0x12")


@pytest.mark.check
def test_help_names_every_command_in_a_sentence(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--help"])
    usage = capsys.readouterr().out
    for command in COMMANDS:
        assert re.search(rf"^    {command}\s+\w", usage, re.M)
        with pytest.raises(SystemExit, match=r"^0$"):
            main([command, "--help"])


@pytest.mark.check
def test_without_a_command_or_an_action_it_prints_help(capsys):
    require_help(capsys, [], ["key"], ["solc"])


def test_the_version_is_the_packages_and_in_a_checkout_has_its_commit():
    head = subprocess.check_output(["git", "rev-parse", "HEAD"], text=True, cwd=ROOT)
    version = f"scan {metadata.version('scan')}"
    assert scan("--version").stdout == f"{version} (commit {head[:12]})\n"
    assert scan("--version", PATH="/nonexistent").stdout == f"{version}\n"
    # As of a service, whose user does not own the checkout.
    of_others = scan("--version", GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert of_others.stdout == f"{version} (commit {head[:12]})\n"


PROGRAM = str(Path(sys.executable).with_name("scan"))


@pytest.mark.check
@pytest.mark.parametrize(
    ("environment", "call"),
    [
        ({"SCAN_CALL": "docker compose exec index scan"}, "docker compose exec index scan"),
        ({"PATH": f"{Path(sys.executable).parent}:/usr/bin"}, "scan"),
        # By the shorter one of its paths: tests of a release run beside their environment.
        ({}, min(os.path.relpath(PROGRAM, ROOT), PROGRAM, key=len)),
    ],
)
def test_a_hint_has_the_call_that_works_here(environment, call, tmp_path):
    done = scan("solc", "list", SCAN_SOLC_DIR=str(tmp_path), **environment)
    assert (done.returncode, done.stdout) == (0, "VERSION\n")
    assert f"`{call} solc install VERSION` installs one" in done.stderr


# A call; its status, and a part of what it says.
@pytest.mark.parametrize(
    ("arguments", "environment", "status", "said"),
    [
        (["serve"], {"PORT": "none"}, 2, "PORT"),
        (["index"], {}, 2, "DATABASE_URL"),
        (["nonsense"], {}, 2, "nonsense"),
        (["audit", "--from", "-1"], {}, 2, "--from"),
        (["audit", "--node", "--blocks=-5"], {}, 2, "--blocks"),
        (["audit", "--from", "5", "--to", "2"], {"DATABASE_URL": NOBODY}, 2, "--to='2'"),
        (["key", "revoke", 20 * "9"], {"DATABASE_URL": NOBODY}, 2, "ID"),
        (["psql"], {"DATABASE_URL": NOBODY, "PATH": "/nonexistent"}, 1, "psql is not installed"),
        (["key", "request"], {}, 1, "SCAN_PRIVATE_KEY"),
        (["key", "request", *SIGNED, "--url", "localhost"], {}, 1, "is not allowed: it must start"),
        (["key", "request", *SIGNED, "--url", "{server}"], {}, 1, "signature is malformed"),
    ],
)
def test_a_wrong_call_is_named(shared_server, arguments, environment, status, said, tmp_path):
    arguments = [argument.replace("{server}", shared_server) for argument in arguments]
    done = scan(*arguments, SCAN_DATA_DIR=str(tmp_path), **environment)
    assert (done.returncode, done.stdout) == (status, "") and said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.check
def test_psql_gets_the_password_where_no_other_user_sees_it(tmp_path):
    program = tmp_path / "psql"
    program.write_text('#!/bin/sh\necho "$@"\necho "$PGPASSWORD"\nexit 3\n')
    program.chmod(0o755)
    url = "postgresql://ann:s3cret%21@db:1/d?sslmode=require"
    done = scan("psql", "-c", "TABLE x", DATABASE_URL=url, PATH=f"{tmp_path}:/usr/bin:/bin")
    arguments, password = done.stdout.splitlines()
    assert (done.returncode, password) == (3, "s3cret!") and "s3cret" not in arguments
    assert arguments.startswith("--command TABLE x ")
    assert {"user=ann", "host=db", "port=1", "dbname=d", "sslmode=require"} <= {*arguments.split()}


@pytest.mark.thorough
@pytest.mark.check
@pytest.mark.parametrize(
    "arguments",
    [
        *(["--help"], ["run", "--help"], ["solc", "list"]),
        *([["doctor"]] if "operations" in registry.installed() else []),
    ],
)
def test_a_reader_that_ends_early_is_no_fault(arguments, tmp_path):
    """As `scan doctor | head -1` is."""
    reader, writer = os.pipe()
    os.close(reader)
    compilers = tmp_path / "solc-0.8.26"
    compilers.mkdir()
    (compilers / "solc-0.8.26").touch(mode=0o755)
    with os.fdopen(writer, "w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "scan", *arguments],
            env={
                "SCAN_DATA_DIR": str(tmp_path),
                "SCAN_SOLC_DIR": str(tmp_path),
                "RPC_URL": NOWHERE,
            },
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=WAIT_S,
        )
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.check
@pytest.mark.parametrize(
    ("reason", "correction"),
    [
        ('connection to server failed: FATAL:  database "n" does not exist', "database's name"),
        ('connection to server failed: FATAL:  role "n" does not exist', "correct the user"),
        ('FATAL:  password authentication failed for user "n"', "the user or the password"),
        ("fe_sendauth: no password supplied", "the user or the password"),
        ('could not translate host name "n" to address: Name unknown', "correct the host in"),
        ("connection to server failed: Connection refused", "start PostgreSQL, or correct host"),
        ("FATAL:  sorry, too many clients already", "raise max_connections"),
        ("FATAL:  remaining connection slots are reserved for roles with", "raise max_connections"),
        ("FATAL:  the database system is starting up", "it is waited for"),
    ],
)
def test_what_is_wrong_in_database_url_is_named(reason, correction):
    error = Unreachable(reason)
    assert reason in error.for_operators and correction in error.for_operators
    assert error.message == UNREACHABLE  # for everybody else


def test_a_command_without_its_database_says_what_to_correct(postgres, tmp_path):
    for url, reason, correction in (
        (NOBODY, "Connection refused", "start PostgreSQL, or correct host and port"),
        (postgres.url("nothing"), '"nothing" does not exist', "correct the database's name"),
    ):
        for command in ("migrate", "run"):
            environment = {"DATABASE_URL": url, "RPC_URL": NOWHERE, "PORT": str(free_port())}
            ended = scan(command, SCAN_DATA_DIR=str(tmp_path), **environment)
            last = ended.stderr.splitlines()[-1]
            assert ended.returncode == 1 and reason in last and correction in last


@pytest.mark.check
def test_commands_ask_the_service_that_runs_on_the_same_data(tmp_path):
    """Not one that was killed, whose file is still there."""

    def url(**settings):
        options = argparse.Namespace(url=settings.pop("url", None))
        own = replace(Settings.from_environment({"SCAN_DATA_DIR": str(tmp_path)}), **settings)
        return service_client.service_url(own, options)

    assert url() == "http://127.0.0.1:8000"
    running = Settings.from_environment({"SCAN_DATA_DIR": str(tmp_path), "PORT": "8400"})
    with locked_data_dir(running, threading.Event()):
        assert url() == "http://127.0.0.1:8400"
        assert url(url="http://scan.example/") == "http://scan.example"
        assert url(port=8500) == "http://127.0.0.1:8500"
        another = locked_data_dir(replace(running, port=8600), threading.Event())
        with pytest.raises(DataDirInUse), another:
            pass
        assert url() == "http://127.0.0.1:8400"
    assert (tmp_path / service_client.LOCK_FILE).read_text() == "http://127.0.0.1:8400"
    assert url() == "http://127.0.0.1:8000"


def test_keys_are_listed_and_revoked(database_url):
    for number, owner in enumerate(OWNERS, 1):
        key = {"id": number, "owner_address": owner, "key_hash": bytes([number]) * 32}
        label = f"label {number}\n3 `scan \x1b[2J\x9b"
        key |= {"key_prefix": f"scan_000000{number}", "label": label}
        database.insert(database_url, "api_keys", **key, requests_per_minute=100)
    headings, *listed = scan("key", "list", DATABASE_URL=database_url).stdout.splitlines()
    assert headings.split()[:3] == ["ID", "PREFIX", "OWNER"]
    assert all(line.index("scan_") == headings.index("PREFIX") for line in listed)
    assert [line.split()[:3] for line in listed] == [
        ["2", "scan_0000002", f"0x{OWNERS[1].hex()}"],
        ["1", "scan_0000001", f"0x{OWNERS[0].hex()}"],
    ]
    forged = r"\n3 `scan \u001b[2J\u009b"  # a client chose it: no row, and no terminal's command
    assert all(re.search(rf" 0 +- +- +label \d{re.escape(forged)}\Z", line) for line in listed)
    owned = ("key", "list", "--json", "--owner", f"0x{OWNERS[0].hex()}")
    assert json.loads(scan(*owned, DATABASE_URL=database_url).stdout) == {
        "id": 1,
        "prefix": "scan_0000001",
        "owner": f"0x{OWNERS[0].hex()}",
        "perMinute": 100,
        "requests": 0,
        "lastUsedAt": None,
        "expiresAt": None,
        "label": "label 1\n3 `scan \x1b[2J\x9b",
    }
    revoked = scan("key", "remove", "1", "3", DATABASE_URL=database_url)
    assert (revoked.returncode, revoked.stdout) == (1, "revoked 1\n")
    assert revoked.stderr == "scan: no active key 3\n"
    assert scan(*owned, DATABASE_URL=database_url).stdout == ""


@pytest.mark.check
def test_a_start_imports_and_reads_what_it_needs_alone():
    """Each process of `scan run` pays for the rest: half of a start was what nothing used."""
    # What `scan run` and `scan index` import; then what a connection and the checks of settings
    # read.
    program = """import sys
from scan import settings
from scan.commands import processes, run
from scan.database import connection, statements
if %r:
    from scan.extensions.demo import demo_run
print(*{"flask", "limits"} & sys.modules.keys())
connection.Database("postgresql://127.0.0.1:1/none", statement_timeout_ms=0)
print(statements.read_statement.cache_info().currsize)
read, declared = settings.read_variables, []
settings.read_variables = lambda type_, environ: declared.append(type_) or read(type_, environ)
settings.doubtful_variables()
print(len(declared) - len({*declared}))
"""
    is_installed = "demo" in registry.installed()
    started = completed([sys.executable, "-c", program % is_installed], cwd=ROOT)
    assert (started.stdout.splitlines(), started.stderr) == (["", "0", "0"], "")


def test_a_node_that_is_wrong_for_a_moment_keeps_its_index(node):
    """As one that says for a second that it is a fork. One that stays another's is believed."""
    assert run.CONFIRMATIONS * run.CONFIRM_EVERY_S >= 5.0
    lies = [5]

    @faulty_node.altering
    def forked(call, answer):
        if call["method"] == "hardhat_metadata" and lies[0]:
            lies[0] -= 1
            answer["result"] = {"instanceId": "0x1", "forkedNetwork": {"forkBlockNumber": 0}}

    identity = read_identity(Node((node.url,)))
    settings, over = indexing.settings_for("postgresql://none", node.url), threading.Event()
    watched = (settings, run.database_name(identity), over, 0.005, 0.02)
    watch = threading.Thread(target=run.watch, args=watched)
    watch.start()
    node.fault = forked
    serving.wait_until(lambda: not lies[0])
    before = node.requests
    serving.wait_until(lambda: node.requests > before + 10)
    assert not over.is_set()
    lies[0] = 10**6
    serving.wait_until(over.is_set)
    watch.join()


@pytest.mark.thorough
def test_a_start_believes_another_chain_only_after_several_answers(node):
    wrong = ["0x61"]

    @faulty_node.altering
    def other_chain(call, answer):
        if call["method"] == "eth_chainId" and wrong:
            answer["result"] = wrong.pop()

    remembered = {}
    postgres = Mock(chain_of=remembered.get, remember_chain=remembered.__setitem__)
    right = run.database_name(read_identity(Node((node.url,))))
    settings = indexing.settings_for("postgresql://none", node.url)
    for of_before in ({}, {node.url: right}):
        remembered |= of_before
        node.fault, wrong[:] = other_chain, ["0x61"]
        name = run.database_of_chain(settings, postgres, threading.Event(), None)
        assert name == right and remembered == {node.url: right} and not wrong


def test_a_private_key_in_the_environment_is_enough(shared_server):
    wallet = wallets.new_wallet()
    private_key = "0x" + bytes(wallet.key).hex()
    options = ("--url", shared_server, "--label", "from a shell")
    done = scan("key", "request", *options, SCAN_PRIVATE_KEY=private_key)
    assert done.returncode == 0, done.stderr
    key = done.stdout.splitlines()[0]
    address = f"{shared_server}/api/v1/keys?owner={wallet.address}"
    listed = requests.get(address, headers={"X-API-Key": key}, timeout=WAIT_S).json()["keys"]
    assert [record["label"] for record in listed] == ["from a shell"]


def test_the_printed_message_can_be_signed_elsewhere(shared_server):
    wallet = wallets.new_wallet()
    printed = scan("key", "request", "--owner", wallet.address).stdout
    [message] = re.findall(r"^Scan API Key Request\n.*\n.*$", printed, re.M)
    [timestamp] = re.findall(r"--timestamp (\d+)", printed)
    assert wallets.owner_of(wallet) in message
    signature = "0x" + bytes(wallet.sign_message(encode_defunct(text=message)).signature).hex()
    options = ("--url", shared_server, "--owner", wallet.address)
    signed = ("--timestamp", timestamp, "--signature", signature)
    done = scan("key", "request", *options, *signed)
    assert re.match(r"scan_[0-9a-f]{64}\n", done.stdout), done.stderr
