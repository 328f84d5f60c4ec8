"""`scan serve`: replaces this process by gunicorn with the repository's configuration."""

import argparse
import os
import sys

from scan.commands.startup import prepare_database, require_database, require_free_port
from scan.settings import ROOT, Settings


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)


def run(settings: Settings, _options: argparse.Namespace) -> int:
    require_database(settings)
    require_free_port(settings)
    prepare_database(settings, reads=True)
    # --pythonpath finds our app.py before one in the current directory.
    config = ["--config", str(ROOT / "gunicorn.conf.py")]
    own_app = ["--pythonpath", str(ROOT), "app:create_app()"]
    os.execv(sys.executable, [sys.executable, "-m", "gunicorn", *config, *own_app])
