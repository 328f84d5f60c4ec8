"""The commands of the documents, run with the demo chain."""

import os
import shutil
import sys
from collections import namedtuple
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from scan.extensions.demo import demo_run
from tests.support.indexing import settings_for
from tests.support.serving import completed, gunicorn
from tests.test_documents import POSTGRES, RUN_HERE, SLOW, STRICT_CURL


class DemoService(namedtuple("DemoService", "port url folder")):
    """`url` is that of its database, `folder` its data folder."""


@pytest.fixture(scope="module")
def demo_service(postgres, demo_template, demo_node):
    """The demo chain, whose database is named where `scan run` has it."""
    limits = ("ANONYMOUS", "PAGES", "FILES")
    environment = {f"SCAN_RATE_LIMIT_{name}": "100000/minute" for name in limits}
    with postgres.cloned(demo_template) as url, TemporaryDirectory(prefix="scan-docs-") as folder:
        demo_run.load(settings_for(url, demo_node.url))
        (Path(folder) / "database_url").write_text(url)
        with gunicorn(url, RPC_URL=demo_node.url, **environment) as address:
            yield DemoService(address.rpartition(":")[2], url, folder)


BLOCKS = [
    pytest.param(
        block,
        id=f"{block.document.stem}-{number}",
        marks=[pytest.mark.long] if SLOW.search(block.text) else [],
    )
    for number, block in enumerate(RUN_HERE)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_commands_run_as_they_stand(demo_service, tmp_path, block):
    """The port is all that is changed, and curl fails where a response is an error."""
    programs = Path(sys.executable).parent
    (tmp_path / ".venv").symlink_to(programs.parent)
    (tmp_path / "curl").write_text(STRICT_CURL.format(shutil.which("curl")))
    (tmp_path / "curl").chmod(0o755)
    done = completed(
        ["bash", "-euo", "pipefail", "-c", block.text.replace(":8000", f":{demo_service.port}")],
        cwd=tmp_path,
        env={
            "HOME": str(Path.home()),
            "PATH": f"{tmp_path}:{programs}:{POSTGRES}:{os.environ['PATH']}",
            **({"DATABASE_URL": demo_service.url} if "$DATABASE_URL" in block.text else {}),
            "PORT": demo_service.port,
            "SCAN_DATA_DIR": demo_service.folder,
        },
    )
    assert done.returncode == 0, (block.text, done.stdout, done.stderr)
