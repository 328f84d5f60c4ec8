"""The upgrade as docs/operation.md has it, from one commit of a checkout to the next."""

import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader

import pytest

from tests.support import database, documents
from tests.support.serving import ROOT, completed

pytestmark = pytest.mark.thorough


def test_the_documented_upgrade_applies_what_the_new_commit_brings(tmp_path, clone):
    """In a folder with what an installation has in /opt/scan, a clone of `upstream`, and in
    /etc/scan."""

    def run(command):
        """In a shell for which this folder is the root."""
        for path in ("/opt/scan", "/etc/scan"):
            command = command.replace(path, f"{tmp_path}{path}")
        env = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}", "CALLS": f"{tmp_path}/calls"}
        done = completed(["bash", "-euo", "pipefail", "-c", command], cwd=tmp_path, env=env)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    author = "-c user.name=a -c user.email=a@b.example"
    commit = f"git -C upstream add --all && git -C upstream {author} commit --quiet -m next"
    upstream, url = tmp_path / "upstream", clone("template1")
    upstream.mkdir()
    for name in ("deploy", "gunicorn.conf.py", "migrations", "scan", "schema.sql", "sql"):
        subprocess.run(["cp", "--recursive", ROOT / name, upstream], check=True)
    (upstream / ".gitignore").write_text("__pycache__\n.venv\n")
    script = upstream / "deploy/as-service"
    script.write_text(script.read_text().replace("/etc/scan", f"{tmp_path}/etc/scan"))
    run("git init --quiet upstream")
    run(commit)
    run("git clone --quiet upstream /opt/scan")
    for name, text in {
        "etc/scan/environment": (
            f"# A comment.\nDATABASE_URL={url}\nRPC_URL=http://127.0.0.1:1/?a=1&b=2\n"
            'SCAN_KEEP_DAYS="5000 blocks"\nSCAN_CHAIN_NAME=Two words\nSCAN_EXTENSIONS=retention\n'
        ),
        # What the commands call besides Scan and git. pip has nothing to install: the tree has all.
        "opt/scan/.venv/bin/pip": "#!/bin/sh\n",
        "opt/scan/.venv/bin/scan": (
            f'#!/bin/sh\n[ "$1" = status ] || exec {sys.executable} -m scan "$@"\n'
        ),
        "bin/systemctl": '#!/bin/sh\necho "systemctl $*" >> "$CALLS"\n',
        "bin/runuser": '#!/bin/sh\necho "runuser $*" >> "$CALLS"; shift 3; exec "$@"\n',
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    run("cd /opt/scan && deploy/as-service migrate")
    migration = upstream / "migrations/9001_added.sql"
    migration.write_text("-- Adds a column.\nALTER TABLE blocks ADD COLUMN added text;\n")
    run(commit)
    (tmp_path / "calls").unlink()
    documented = documents.blocks(ROOT / "docs/operation.md", "sh")
    [upgrade] = [block for block in documented if "test_upgrade.py" in block.note]
    printed = run(upgrade.text)
    assert "9001_added.sql: Adds a column.\n" in printed
    assert "applied 9001_added.sql\n" in printed
    database.execute(url, "SELECT added FROM blocks")
    scan = f"runuser -u scan -- {tmp_path}/opt/scan/.venv/bin/scan"
    assert (tmp_path / "calls").read_text().splitlines() == [
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
