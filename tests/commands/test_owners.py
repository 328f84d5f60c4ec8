"""`scan backup --owners` and `scan restore --owners`, by the commands of docs and of refusals."""

import logging
import os
import re
import shlex
import sys
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest
import requests

from scan.accounts.api_keys import new_key
from scan.commands import run as run_command
from scan.database import migrations
from scan.ethereum.client import Node
from scan.indexer import chain_identity
from scan.settings import Settings
from tests.support import WAIT_S, database, documents, folders
from tests.support.embedded import running_in
from tests.support.owners_rows import NEWEST, fill_owners
from tests.support.scan_command import scan
from tests.support.scan_run import scan_run
from tests.support.serving import ROOT

pytestmark = pytest.mark.thorough

DOCUMENT = ROOT / "docs/operation.md"
UPGRADE, BACK_UP = (b for b in documents.blocks(DOCUMENT, "sh") if "test_owners.py" in b.note)


class Folder:
    """A folder whose `var` has a database of an older version, of the chain of a node, with what
    people gave."""

    def __init__(self, path, anvil):
        self.path, self.rpc_url, self.key = path, anvil.url, new_key()
        self.name = run_command.database_name(chain_identity.read_identity(Node((anvil.url,))))
        with running_in(path / "var") as server:
            url = server.database_url(self.name)
            migrations.run(Settings(database_url=url))
            fill_owners(url, self.key.id, self.key.hash, self.key.prefix)
            database.insert(url, "chain", chain_id=31337, genesis_hash=bytes(32))
            database.insert(url, "blocks", number=12)
            database.execute(url, "UPDATE delivery_queues SET fresh_block = 9")
            database.execute(url, "ALTER TABLE blocks DROP COLUMN unproven CASCADE")
            database.execute(url, "UPDATE schema_state SET digest = '\\x0a0b'")

    def run(self, command):
        """A line of a document, or of a refusal."""
        words = shlex.split(command, comments=True)
        variables = dict(word.split("=", 1) for word in words if re.match("[A-Z_]+=", word))
        [program, *arguments] = words[len(variables) :]
        assert Path(program).name == "scan"
        env = {"PATH": os.environ["PATH"], "RPC_URL": self.rpc_url, **variables}
        env["SCAN_DATA_DIR"] = str(self.path / variables.get("SCAN_DATA_DIR", "var"))
        arguments = [str(self.path / a) if a.endswith(".jsonl") else a for a in arguments]
        return scan(*arguments, **env)

    def done(self, command):
        ended = self.run(command)
        assert ended.returncode == 0, ended
        return ended.stdout


@pytest.fixture
def older(anvil):
    with folders.temporary_folder("scan owners ") as path:
        yield Folder(path, anvil)


def test_the_commands_of_a_refusal_bring_all_of_it_along(older, anvil):
    anvil.mine(3)
    refused = older.run("scan run")
    assert refused.returncode == 1 and "unproven" not in refused.stderr  # PostgreSQL's words
    save, restore = re.findall(r"`(\S*scan [^`]+)`", refused.stderr)
    assert save.endswith(f"/scan backup --owners owners.jsonl --database {older.name}")
    *documented, run = [line.split("#")[0].strip() for line in UPGRADE.text.splitlines()]
    assert run == "make run"
    assert [words[1:] for words in map(str.split, documented)] == [
        save.split()[1:4],
        restore.split()[1:],
    ]
    older.done(documented[0])
    printed = older.done(documented[1])
    assert "api_keys: 1 of 1 rows restored\n" in printed
    assert "api_keys: 0 of 1 rows restored, 1 were there already\n" in older.done(restore)
    # What a file of another day lacks is still there, until the printed command removes it.
    [drop] = re.findall(r"`\S*(scan psql -c 'DROP DATABASE (?:\w+)')`", printed)
    former = f"former.jsonl --database {drop.split()[-1].removesuffix(chr(39))}"
    assert older.done(f"scan backup --owners {former}").startswith(f"wrote {older.path}/former")
    assert older.done(drop) == "DROP DATABASE\n"
    assert older.run(f"scan backup --owners {former}").returncode == 2
    with scan_run((sys.executable, "-m", "scan"), older.path, RPC_URL=anvil.url) as running:
        running.wait_for_block(3)
        headers = {"X-API-Key": older.key.text}
        response = requests.get(f"{running.url}/api/v1/stats", headers=headers, timeout=WAIT_S)
        assert response.headers["X-RateLimit-Limit"] == "77"
        # Its nodes are those of commands that have no RPC_URL.
        older.rpc_url = ""
        assert older.done("scan contracts source-maps").startswith("0 source")
        assert older.done("scan psql -c 'SELECT max(number) FROM blocks'").split()[2] == "3"
        # Both work while it runs, as docs say.
        for line in BACK_UP.text.splitlines():
            older.done(line)


def test_tables_that_others_use_are_not_replaced(older):
    older.done(UPGRADE.text.splitlines()[0])
    with (
        running_in(older.path / "var") as server,
        closing(psycopg2.connect(server.database_url(older.name))),
    ):
        refused = older.run("scan restore --owners owners.jsonl")
    assert refused.returncode == 1 and "run` first" in refused.stderr
    with running_in(older.path / "var") as server:
        assert server.databases() == [older.name]


def test_which_of_several_databases_is_asked(older):
    with running_in(older.path / "var") as server:
        migrations.run(Settings(database_url=server.database_url("scan_5_00000000")))
    older.rpc_url = ""
    result = older.run("scan backup --owners owners.jsonl")
    assert result.returncode == 2 and f"There are: {older.name}, scan_5_00000000" in result.stderr
    older.done("scan backup --owners owners.jsonl --database scan_5_00000000")
    older.rpc_url = "http://five:8545"
    with running_in(older.path / "var") as server:
        server.remember_chain(older.rpc_url, "scan_5_00000000")
    assert older.done("scan migrate --plan") == "the schema is current\n"  # no `scan run` runs
    older.rpc_url = ""
    wrong = older.run("scan restore --owners owners.jsonl --database scan_6_00000000")
    assert wrong.returncode == 2 and "--database='scan_6_00000000'" in wrong.stderr


def test_a_new_database_names_older_ones_with_keys(older, caplog):
    """The demo chain has another database once its blocks are others."""
    with running_in(older.path / "var") as server:
        server.database_url("scan_31337_00000001")
        with caplog.at_level(logging.WARNING):
            run_command._name_older(server, "scan_31337_00000002")
    [record] = caplog.records
    assert f"{older.name} has 1 API keys and 1 webhooks" in record.getMessage()
    assert f"`scan backup --owners owners.jsonl --database {older.name}`" in record.getMessage()


def test_a_database_of_ones_own_is_written_and_restored(database_url, tmp_path):
    def run(*arguments):
        return scan(*arguments, DATABASE_URL=database_url)

    done = run("restore", "--owners", NEWEST)
    assert done.returncode == 0 and "labels: 1 of 1 rows restored" in done.stdout, done
    done = run("backup", "--owners", tmp_path / "file")
    assert done.stdout == f"wrote {tmp_path}/file: 21 rows\n", done
    cut = tmp_path / "cut"
    cut.write_bytes((tmp_path / "file").read_bytes()[:-10])
    done = run("restore", "--owners", cut)
    assert done.returncode == 1 and f"{cut} is not whole" in done.stderr
    refused = run("backup", "--owners", tmp_path / "no" / "file")
    assert refused.returncode == 1 and "No such file or directory" in refused.stderr
    refused = run("backup", tmp_path / "file")
    assert refused.returncode == 2 and "DATABASE_URL" in refused.stderr
