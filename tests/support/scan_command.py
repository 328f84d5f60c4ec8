"""A `scan` command run in a process of its own, without the settings of who runs the tests."""

import os
import sys

import pytest

from scan.commands import main
from tests.support import forked_python
from tests.support.serving import ROOT, completed

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


def started(*command, environ):
    """In a process that imports what SCAN_EXTENSIONS says."""
    return completed([sys.executable, "-m", *map(str, command)], env=os.environ | environ)
