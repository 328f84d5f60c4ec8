"""A `scan` command run in a process of its own, without the settings of who runs the tests."""

import os
import subprocess
import sys

import pytest

from scan.commands import main
from tests.support import WAIT_S, forked_python
from tests.support.serving import ROOT

OWNERS = (bytes(19) + b"\1", bytes(19) + b"\2")


def scan(*arguments, **environment):
    data_dir = os.environ["SCAN_DATA_DIR"]
    bare = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "SCAN_DATA_DIR": data_dir}
    return forked_python.run(
        [sys.executable, "-m", "scan", *arguments], env=bare | environment, cwd=ROOT
    )


def require_help(capsys, *calls):
    for arguments in calls:
        assert main(arguments) == 2
        printed, problems = capsys.readouterr()
        with pytest.raises(SystemExit, match=r"^0$"):
            main([*arguments, "--help"])
        assert printed == capsys.readouterr().out
        assert problems == ""


def require_wrong_call(arguments, environment, named, tmp_path):
    result = scan(*arguments, SCAN_DATA_DIR=str(tmp_path), **environment)
    assert result.returncode == 2
    assert named in result.stderr
    assert "Traceback" not in result.stderr


def started(*command, environ):
    """In a process that imports what SCAN_EXTENSIONS says."""
    arguments = [sys.executable, "-m", *map(str, command)]
    environment = os.environ | environ
    return subprocess.run(
        arguments, env=environment, capture_output=True, text=True, timeout=WAIT_S
    )
