"""The upgrade as docs/operation.md has it, from one commit of a checkout to the next."""

import os
import shutil
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from tests.support import database, documents
from tests.support.serving import ROOT, completed

pytestmark = pytest.mark.thorough

DOCUMENT = ROOT / "docs/operation.md"
[UPGRADE] = [block for block in documents.blocks(DOCUMENT, "sh") if "test_upgrade.py" in block.note]
ENVIRONMENT = """\
# A comment.
DATABASE_URL={}
RPC_URL=http://127.0.0.1:1/?a=1&b=2
SCAN_KEEP_DAYS="5000 blocks"
SCAN_CHAIN_NAME=Two words
SCAN_EXTENSIONS=retention
"""
# What the commands call besides Scan and git. pip has nothing to install: the tree has all.
PROGRAMS = {
    "opt/scan/.venv/bin/pip": "true",
    "opt/scan/.venv/bin/scan": f'[ "$1" = status ] || exec {sys.executable} -m scan "$@"',
    "bin/systemctl": 'echo "systemctl $*" >> "$CALLS"',
    "bin/runuser": 'echo "runuser $*" >> "$CALLS"; shift 3; exec "$@"',
}


def run(folder, command):
    """In a shell for which `folder` is the root."""
    for path in ("/opt/scan", "/etc/scan"):
        command = command.replace(path, f"{folder}{path}")
    env = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "CALLS": f"{folder}/calls"}
    done = completed(["bash", "-euo", "pipefail", "-c", command], cwd=folder, env=env)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


def commit(folder):
    author = "-c user.name=a -c user.email=a@b.example"
    run(folder, f"git -C upstream add --all && git -C upstream {author} commit --quiet -m next")


@pytest.fixture
def empty_url(postgres):
    with postgres.cloned("template1") as url:
        yield url


@pytest.fixture
def machine(tmp_path, empty_url):
    """A folder with what an installation has in /opt/scan, a clone of `upstream`, and /etc/scan."""
    upstream = tmp_path / "upstream"
    for name in ("deploy", "gunicorn.conf.py", "migrations", "scan", "schema.sql", "sql"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        upstream.mkdir(exist_ok=True)
        copy(ROOT / name, upstream / name)
    (upstream / ".gitignore").write_text("__pycache__\n.venv\n")
    script = upstream / "deploy/as-service"
    script.write_text(script.read_text().replace("/etc/scan", f"{tmp_path}/etc/scan"))
    run(tmp_path, "git init --quiet upstream")
    commit(tmp_path)
    run(tmp_path, "git clone --quiet upstream /opt/scan")
    (tmp_path / "etc/scan").mkdir(parents=True)
    (tmp_path / "etc/scan/environment").write_text(ENVIRONMENT.format(empty_url))
    for name, text in PROGRAMS.items():
        program = tmp_path / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    return tmp_path


def test_the_documented_upgrade_applies_what_the_new_commit_brings(machine, empty_url):
    run(machine, "cd /opt/scan && deploy/as-service migrate")
    migration = machine / "upstream/migrations/9001_added.sql"
    migration.write_text("-- Adds a column.\nALTER TABLE blocks ADD COLUMN added text;\n")
    commit(machine)
    (machine / "calls").unlink()
    printed = run(machine, UPGRADE.text)
    assert "9001_added.sql: Adds a column.\n" in printed
    assert "applied 9001_added.sql\n" in printed
    database.execute(empty_url, "SELECT added FROM blocks")
    scan = f"runuser -u scan -- {machine}/opt/scan/.venv/bin/scan"
    assert (machine / "calls").read_text().splitlines() == [
        f"{scan} migrate --plan",
        "systemctl stop scan-index",
        f"{scan} migrate",
        "systemctl start scan-index",
        "systemctl restart scan-deliver",
        *(f"systemctl restart scan-api@{port}" for port in (8001, 8002, 8003)),
    ]


@pytest.mark.check
def test_a_file_of_variables_is_read_as_systemd_reads_it():
    """systemd.exec(5), EnvironmentFile=."""
    loader = SourceFileLoader("as_service", str(ROOT / "deploy/as-service"))
    module = module_from_spec(spec_from_loader("as_service", loader))
    loader.exec_module(module)
    text = (
        '# a comment\n; another one\n\n B = two words \nC="5000 blocks"\nD=\'a "b"\'\n'
        "E=https://h/?a=1&b=$HOME#c\nF=a\\ b\\\nc\nG=\nH=it's\n"
    )
    of_url = {"E": "https://h/?a=1&b=$HOME#c"}
    of_quotes = {"B": "two words", "C": "5000 blocks", "D": 'a "b"', "F": "a bc", "H": "it's"}
    assert module.variables(text) == {"G": "", **of_url, **of_quotes}
