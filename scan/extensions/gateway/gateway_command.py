"""`scan gateway`: replaces this process by gunicorn with the gateway of several chains."""

import argparse
import os
import sys
from pathlib import Path

from scan.commands.startup import require_free_port
from scan.extensions.gateway import application, forwarding
from scan.settings import ROOT, Settings, environment_with


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("file", metavar="FILE", type=Path, help="the chains, a table for each")


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Serve the gateway at HOST and PORT. It needs no database and no node."""
    require_free_port(settings)
    threads = application.thread_count(forwarding.read_chains(options.file, settings))
    file = str(options.file.absolute())
    options_of_server = ["--config", str(ROOT / "gunicorn.conf.py"), "--threads", str(threads)]
    app = f"scan.extensions.gateway.application:create_app({file!r})"
    command = [sys.executable, "-m", "gunicorn", *options_of_server, app]
    os.execve(sys.executable, command, environment_with({"DATABASE_URL": ""}))
