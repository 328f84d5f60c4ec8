"""The `scan` command as a person or a script calls it."""

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from app import create_app
from scan.commands import COMMANDS, main
from tests.support import forked_python
from tests.support.database import execute
from tests.support.indexing import settings_for

FIRST, SECOND = "0x" + 40 * "a", "0x" + 40 * "B"
OWNERS = (bytes(19) + b"\1", bytes(19) + b"\2")


def scan(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    data_dir = os.environ["SCAN_DATA_DIR"]
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SCAN_DATA_DIR": data_dir}
    return forked_python.run(
        [sys.executable, "-m", "scan", *arguments],
        env=bare | environment,
        cwd=Path(__file__).resolve().parent.parent.parent,
    )


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


def require_help(capsys, *calls):
    for arguments in calls:
        assert main(arguments) == 2
        printed, problems = capsys.readouterr()
        with pytest.raises(SystemExit, match=r"^0$"):
            main([*arguments, "--help"])
        assert printed == capsys.readouterr().out
        assert problems == ""


@pytest.mark.check
def test_the_version_is_the_packages():
    done = scan("--version")
    assert (done.returncode, done.stdout) == (0, f"scan {metadata.version('scan')}\n")


@pytest.mark.check
def test_where_there_is_no_compiler_the_list_says_so(tmp_path):
    done = scan("solc", "list", SCAN_SOLC_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "")
    assert str(tmp_path) in done.stderr and "scan solc install" in done.stderr


NOBODY = "postgresql://nobody@127.0.0.1:1/none"


@pytest.mark.check
@pytest.mark.parametrize(
    ("arguments", "environment", "named"),
    [
        (["serve"], {"PORT": "none"}, "PORT"),
        (["index"], {}, "DATABASE_URL"),
        (["migrate"], {}, "DATABASE_URL"),
        (["nonsense"], {}, "nonsense"),
        (["audit", "--from", "-1"], {}, "--from"),
        (["audit", "--node", "--blocks=-5"], {}, "--blocks"),
        (["audit", "--from", "5", "--to", "2"], {"DATABASE_URL": NOBODY}, "--to='2'"),
        (["key", "revoke", 20 * "9"], {"DATABASE_URL": NOBODY}, "ID"),
    ],
)
def test_a_wrong_call_is_not_taken_for_a_fault(arguments, environment, named, tmp_path):
    require_wrong_call(arguments, environment, named, tmp_path)


def require_wrong_call(arguments, environment, named, tmp_path):
    called = scan(*arguments, SCAN_DATA_DIR=str(tmp_path), **environment)
    assert called.returncode == 2
    assert named in called.stderr
    assert "Traceback" not in called.stderr


def test_migrating_says_what_it_did(postgres, tmp_path):
    with postgres.cloned("template0") as url:
        first = scan("migrate", DATABASE_URL=url)
        again = scan("migrate", DATABASE_URL=url)
    assert (first.returncode, again.returncode) == (0, 0)
    assert "schema.sql" in first.stdout
    assert again.stdout == "the schema is current\n"


def test_keys_are_listed_and_revoked(database_url):
    for number, owner in enumerate(OWNERS, 1):
        execute(
            database_url,
            "INSERT INTO api_keys (id, owner_address, signed_at_ms, key_hash, key_prefix, label,"
            " requests_per_minute) VALUES (%s, %s, 1, %s, %s, %s, 100)",
            number,
            owner,
            bytes([number]) * 32,
            f"scan_000000{number}",
            f"label {number}",
        )
    listed = scan("key", "list", DATABASE_URL=database_url).stdout.splitlines()
    assert [line.split()[:3] for line in listed] == [
        ["2", "scan_0000002", f"0x{OWNERS[1].hex()}"],
        ["1", "scan_0000001", f"0x{OWNERS[0].hex()}"],
    ]
    assert all(" 0 never label " in line for line in listed)
    owned = ("key", "list", "--owner", f"0x{OWNERS[0].hex()}")
    assert scan(*owned, DATABASE_URL=database_url).stdout.startswith("1 scan_0000001")
    revoked = scan("key", "revoke", "1", "3", DATABASE_URL=database_url)
    assert (revoked.returncode, revoked.stdout) == (1, "revoked 1\n")
    assert revoked.stderr == "scan: no active key 3\n"
    assert scan(*owned, DATABASE_URL=database_url).stdout == ""


@pytest.mark.check
def test_the_application_starts_without_a_database():
    """It answers 503 until there is one."""
    app = create_app(settings_for("postgresql://127.0.0.1:1/none", "http://127.0.0.1:1"))
    client = app.test_client()
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    page = client.get("/")
    assert page.status_code == 503 and "database" in page.text
