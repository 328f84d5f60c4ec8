"""Temporary folders, which a killed process leaves and the next one removes."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scan.files import temporary_folder
from tests.support.serving import ROOT

pytestmark = pytest.mark.check


@pytest.fixture(autouse=True)
def folder_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


HOLDING = """
import sys, tempfile, time
from pathlib import Path
from scan.files import temporary_folder
tempfile.tempdir = sys.argv[1]
with temporary_folder("scan-made-") as folder:
    Path(folder, "part").write_text("x")
    print(folder, flush=True)
    time.sleep(600)
"""


def test_a_killed_process_leaves_no_folder_and_one_that_lives_keeps_its_own(tmp_path):
    command = [sys.executable, "-c", HOLDING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        path = Path(process.stdout.readline().strip())
        with temporary_folder("scan-made-") as folder:
            assert Path(folder).parent == path.parent == tmp_path
            assert (path / "part").exists()
            process.kill()
            process.wait()
        assert [*tmp_path.iterdir()] == [path]
        with temporary_folder("scan-made-") as folder:
            assert [*tmp_path.iterdir()] == [Path(folder)]
    assert [*tmp_path.iterdir()] == []


def test_links_and_files_of_the_name_are_left_alone(tmp_path):
    target = tmp_path / "kept"
    (target / "inside").mkdir(parents=True)
    (tmp_path / "scan-made-link").symlink_to(target)
    (tmp_path / "scan-made-file").write_text("x")
    with temporary_folder("scan-made-"):
        pass
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"kept", "scan-made-link", "scan-made-file"}
    assert (target / "inside").exists()
