"""`scan run --chains`: `scan run` for each chain, and the gateway in front of them."""

import argparse
import threading
from pathlib import Path
from urllib.parse import urlsplit

from scan.commands import database_commands, hooks, startup
from scan.commands.run import GRACE_S, ChildProcess, keep_running
from scan.errors import SettingError
from scan.extensions.gateway.forwarding import Chain, read_chains
from scan.observability.logs import print_lines
from scan.setting_kinds import without_password
from scan.settings import Settings, environment_with

STOP_S = GRACE_S + 15.0  # a chain's `scan run` stops its children, then PostgreSQL


def add_arguments(command: hooks.Arguments) -> None:
    text = "run several chains behind one address: a table of FILE for each"
    command.add_argument("--chains", metavar="FILE", type=Path, help=text)


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Run until Ctrl-C, which stops all processes, and return the exit code."""
    file: Path | None = options.chains
    if file is None:
        return None
    if settings.database_url:
        reason = "must not be set with --chains; set it in the tables of the chains"
        raise SettingError("DATABASE_URL", without_password(settings.database_url), reason)
    chains = read_chains(file, settings)
    stop = threading.Event()
    startup.on_stop_signals(stop.set)
    children = [
        *(ChildProcess(chain.path, _environment(settings, chain), "run") for chain in chains),
        ChildProcess("gateway", environment_with({}), "gateway", str(file.absolute())),
    ]
    print_lines("", f"{settings.base_url} serves these chains (Ctrl-C to stop):")
    print_lines(*(f"  {settings.base_url}/{chain.path}/  {chain.name}" for chain in chains))
    with database_commands.locked_data_dir(settings):
        keep_running(settings, children, stop, grace_s=STOP_S)
    return 0


def _environment(settings: Settings, chain: Chain) -> dict[str, str]:
    """Return the environment of a chain's process, which only the gateway can reach and which
    trusts it."""
    address = urlsplit(chain.url)
    if address.hostname != "127.0.0.1" or address.port is None:
        raise SettingError("url", chain.url, "must be http://127.0.0.1:PORT, or left out")
    environment = {
        **chain.environment,
        "HOST": "127.0.0.1",
        "PORT": str(address.port),
        "SCAN_DATA_DIR": str(settings.data_dir / chain.path),
        "SCAN_TRUSTED_PROXIES": "1",
    }
    return environment_with(environment)


HOOKS = hooks.Commands(options={"run": hooks.CommandOptions(run, add_arguments)})
