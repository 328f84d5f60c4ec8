"""The `scan` command as a person or a script calls it."""

import json
import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from app import create_app
from scan.commands import COMMANDS, main
from scan.database.connection import Database
from scan.extensions.monitoring.disk_forecast import DAY_S, forecast
from tests.support import forked_python
from tests.support.database import execute
from tests.support.indexing import settings_for
from tests.support.made_blocks import Chain, Move
from tests.support.serving import gunicorn, wait_until

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


def labels(url: str) -> dict[str, str]:
    rows = execute(url, "SELECT '0x' || encode(address, 'hex'), label FROM labels")
    return {str(address): str(label) for address, label in rows}


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
    for arguments in ([], ["labels"], ["signatures"], ["key"], ["solc"]):
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
        (["labels", "import", "x.csv"], {}, "DATABASE_URL"),
        (["nonsense"], {}, "nonsense"),
        (["audit", "--from", "-1"], {}, "--from"),
        (["audit", "--node", "--blocks=-5"], {}, "--blocks"),
        (["audit", "--from", "5", "--to", "2"], {"DATABASE_URL": NOBODY}, "--to='2'"),
        (["export", "blocks", "--output=x", "--from=5", "--to=2"], {}, "--to='2'"),
        (["backfill", "chain", "--last-block=-1"], {}, "--last-block"),
        (["status", "--most-behind=-1"], {}, "--most-behind"),
        (["key", "revoke", 20 * "9"], {"DATABASE_URL": NOBODY}, "ID"),
    ],
)
def test_a_wrong_call_is_not_taken_for_a_fault(arguments, environment, named, tmp_path):
    called = scan(*arguments, SCAN_DATA_DIR=str(tmp_path), **environment)
    assert called.returncode == 2
    assert named in called.stderr
    assert "Traceback" not in called.stderr


def test_migrating_says_what_it_did(postgres, tmp_path):
    postgres.make_database("to_migrate")
    url = postgres.url("to_migrate")
    first = scan("migrate", DATABASE_URL=url)
    again = scan("migrate", DATABASE_URL=url)
    assert (first.returncode, again.returncode) == (0, 0)
    assert "schema.sql" in first.stdout
    assert again.stdout == "the schema is current\n"


def test_labels_are_stored_replaced_and_removed(database_url, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text(f'address,label\n{FIRST},"Treasury, new"\n{SECOND},Bridge\n')
    done = scan("labels", "import", str(file), DATABASE_URL=database_url)
    assert (done.returncode, done.stdout) == (0, "2 labels stored, 0 removed\n")
    assert labels(database_url) == {FIRST: "Treasury, new", SECOND.lower(): "Bridge"}
    file.write_text(f"{SECOND},\n{FIRST},Vault\n")
    assert scan("labels", "import", str(file), DATABASE_URL=database_url).returncode == 0
    assert labels(database_url) == {FIRST: "Vault"}


@pytest.mark.parametrize(
    "line", ["0x12,short", f"{FIRST}", f"{FIRST},{101 * 'x'}", f"{FIRST},a\x1bb", f"{FIRST},a,b"]
)
def test_a_wrong_line_is_named_and_nothing_is_stored(database_url, tmp_path, line):
    file = tmp_path / "labels.csv"
    file.write_text(f"address,label\n{SECOND},Bridge\n{line}\n")
    done = scan("labels", "import", str(file), DATABASE_URL=database_url)
    assert done.returncode == 1
    assert done.stderr.startswith("scan: line 3: ")
    assert labels(database_url) == {}


def test_labels_that_are_not_utf_8_are_refused(database_url, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_bytes(f"{FIRST},M\xfcnze\n".encode("latin-1"))
    done = scan("labels", "import", str(file), DATABASE_URL=database_url)
    assert (done.returncode, done.stderr) == (1, f"scan: {file}: not a text file in UTF-8\n")
    assert labels(database_url) == {}


def test_exported_labels_can_be_imported(database_url, tmp_path):
    stored = {FIRST: 'a "quoted", one', SECOND.lower(): "Über"}
    for address, label in stored.items():
        execute(
            database_url, "INSERT INTO labels VALUES (decode(%s, 'hex'), %s)", address[2:], label
        )
    listed = scan("labels", "list", DATABASE_URL=database_url).stdout
    assert listed == "".join(f"{address} {label}\n" for address, label in stored.items())
    file = str(tmp_path / "labels.csv")
    assert scan("labels", "export", file, DATABASE_URL=database_url).returncode == 0
    execute(database_url, "DELETE FROM labels")
    assert scan("labels", "import", file, DATABASE_URL=database_url).returncode == 0
    assert labels(database_url) == stored


def test_a_file_that_cannot_be_is_named(database_url, tmp_path):
    for action in ("import", "export"):
        file = str(tmp_path / "none" / "labels.csv")
        done = scan("labels", action, file, DATABASE_URL=database_url)
        assert done.returncode == 1 and done.stderr == f"scan: {file}: No such file or directory\n"


def test_keys_are_listed_and_revoked(database_url):
    for number, owner in enumerate(OWNERS, 1):
        execute(
            database_url,
            "INSERT INTO api_keys (id, owner_address, signed_at_ms, key_hash, key_prefix, label,"
            " requests_per_minute) VALUES (%s, %s, 1, %s, %s, %s, 100)",
            *(number, owner, bytes([number]) * 32, f"scan_000000{number}", f"label {number}"),
        )
    listed = scan("key", "list", DATABASE_URL=database_url).stdout.splitlines()
    assert [line.split()[:3] for line in listed] == [
        ["2", "scan_0000002", f"0x{OWNERS[1].hex()}"],
        ["1", "scan_0000001", f"0x{OWNERS[0].hex()}"],
    ]
    owned = ("key", "list", "--owner", f"0x{OWNERS[0].hex()}")
    assert scan(*owned, DATABASE_URL=database_url).stdout.startswith("1 scan_0000001")
    revoked = scan("key", "revoke", "1", "3", DATABASE_URL=database_url)
    assert (revoked.returncode, revoked.stdout) == (1, "revoked 1\n")
    assert revoked.stderr == "scan: no active key 3\n"
    assert scan(*owned, DATABASE_URL=database_url).stdout == ""


@pytest.mark.check
def test_status_of_nobody(tmp_path):
    done = scan("status", "--json", PORT="1")
    assert done.returncode == 1
    assert json.loads(done.stdout)["status"] == "unreachable"


def test_status_is_for_scripts(database_url):
    with gunicorn(database_url) as server:
        done = scan("status", "--json", "--url", server)
        assert (done.returncode, json.loads(done.stdout)["status"]) == (0, "ready")
        execute(database_url, "DROP TABLE migrations")
        # /readyz may be an answer of a second ago.
        wait_until(lambda: scan("status", "--url", server).returncode == 1)
        assert "unavailable" in scan("status", "--url", server).stdout


def test_status_says_when_the_disk_is_full(database_url):
    """Half of ten transactions are of the newest day, so half of the database is."""
    chain = Chain(Database(database_url, statement_timeout_ms=10_000))
    for number in range(10):
        days = 3 if number < 5 else 5
        chain.append([Move(OWNERS[0], OWNERS[1])], timestamp_s=days * DAY_S + number)
    [(size, folder)] = execute(
        database_url,
        "SELECT pg_database_size(current_database()), current_setting('data_directory')",
    )
    with gunicorn(database_url) as server:
        status = json.loads(scan("status", "--json", "--url", server).stdout)
        text = scan("status", "--url", server).stdout
    free = shutil.disk_usage(str(folder)).free
    assert status["diskFreeBytes"] == pytest.approx(free, rel=0.2)  # others write meanwhile
    days = status["diskFreeBytes"] / (int(str(size)) / 2)
    assert status["diskFullInDays"] == pytest.approx(days, rel=0.2)
    assert re.search(r"^disk of the database: \d+ GiB free, full in [\d,]+ days", text, re.M)


def test_the_disk_of_another_machine_is_not_forecast(database_url):
    """As its role may not know where the data are: the same folder here would be another disk."""
    execute(database_url, "CREATE ROLE without_settings LOGIN IN ROLE pg_read_all_data")
    try:
        role = database_url.replace("postgres@", "without_settings@").replace(
            "postgres:@", "without_settings@"
        )
        assert "without_settings" in role
        assert forecast(Database(role, statement_timeout_ms=10_000)) is None
        assert forecast(Database(database_url, statement_timeout_ms=10_000)) is not None
    finally:
        execute(database_url, "DROP ROLE without_settings")


def test_a_disk_in_a_closed_folder_is_not_forecast(database_url, monkeypatch):
    def closed(_path: Path) -> bool:  # as the kernel refuses another user than root
        raise PermissionError

    monkeypatch.setattr(Path, "is_dir", closed)
    assert forecast(Database(database_url, statement_timeout_ms=10_000)) is None


@pytest.mark.check
def test_the_application_starts_without_a_database():
    """It answers 503 until there is one."""
    app = create_app(settings_for("postgresql://127.0.0.1:1/none", "http://127.0.0.1:1"))
    client = app.test_client()
    assert client.get("/readyz").status_code == 503
    assert client.get("/healthz").status_code == 200
    page = client.get("/")
    assert page.status_code == 503 and "database" in page.text
