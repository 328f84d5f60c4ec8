"""`scan run`: runs database, indexer and API together until Ctrl-C stops all of them.

It keeps `scan index` and `scan serve` running as child processes, and has one database per chain:
where the nodes of RPC_URL serve another chain, it goes over to the other database.
"""

import argparse
import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlsplit

from scan import registry
from scan.commands import database_commands, service_client, startup
from scan.commands.arguments import options_of_extensions, run_of_extensions
from scan.commands.hooks import RunSettings
from scan.commands.long_work import start
from scan.database.connection import Database
from scan.database.embedded import EmbeddedPostgres, StartFailed
from scan.database.outages import is_due, log_pause
from scan.errors import ScanError, SettingError
from scan.ethereum.client import HistoryPruned, Node, NodeError
from scan.ethereum.served_chain import ChainIdentity
from scan.indexer import chain_identity
from scan.observability.logs import print_lines
from scan.setting_kinds import node_origins
from scan.settings import Settings, child_environment, own_call

log = logging.getLogger(__name__)

RESTART_PAUSE_S = 1.0
GRACE_S = 20.0


class ChildProcess:
    """A child that runs `scan ARGUMENTS`. keep_running() starts it again when it has ended."""

    def __init__(self, name: str, environment: Mapping[str, str], *arguments: str) -> None:
        self._name = name
        self._environment = environment
        self._arguments = arguments
        self._started_at = 0.0
        self._process: subprocess.Popen[bytes] | None = None

    def keep_running(self) -> None:
        if self._process is not None:
            code = self._process.poll()
            if code is None:
                return
            log.warning("the %s process ended with %s; restarting it", self._name, code)
            time.sleep(max(0.0, RESTART_PAUSE_S - (time.monotonic() - self._started_at)))
        self._started_at = time.monotonic()
        self._process = start(self._environment, *self._arguments)

    def terminate(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)

    def wait(self, deadline: float) -> None:
        if self._process is None:
            return
        try:
            self._process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            log.warning("the %s process did not stop in time; killing it", self._name)
            self._process.kill()
            self._process.wait()


def keep_running(
    settings: Settings,
    children: list[ChildProcess],
    stop: threading.Event,
    goes_on: Callable[[], bool],
) -> None:
    """Keep children running until `stop` is set or `make`, which started this process, has ended,
    as long as it `goes_on`; then stop them."""
    parent = os.getppid()
    try:
        while not stop.is_set() and goes_on():
            for child in children:
                child.keep_running()
            if settings.started_by_make and os.getppid() != parent:
                log.info("the parent process `make` has ended; stopping")
                stop.set()
            stop.wait(CHECK_EVERY_S)
    finally:
        deadline = time.monotonic() + GRACE_S
        for child in children:
            child.terminate()
        for child in children:
            child.wait(deadline)


UNKNOWN_CHAIN = "scan_unknown"  # the database that serves the reason why no chain is recognised
CHECK_EVERY_S = 0.5
SOURCES_FOLDER = "sources"  # of SCAN_DATA_DIR: verified sources beside the embedded database


def overridden(settings: Settings) -> dict[str, str]:
    """Return the settings that are given and that `scan run` replaces, each with what it takes."""
    taken = {}
    if settings.rpc_urls and not settings.database_url and settings.sources_dir is not None:
        taken["SCAN_SOURCES_DIR"] = str(settings.data_dir / SOURCES_FOLDER)
    if not settings.rpc_urls and settings.start_block is not None:
        taken["SCAN_START_BLOCK"] = "the first block of the demo chain"
    return taken


class OwnNode(NamedTuple):
    """A node that `scan run` starts in its own process: `start` returns the settings with it,
    `digest` tells its chain from others with the same genesis block in the name of the database,
    and `fill` adds rows to the database before the chain is indexed."""

    start: Callable[[Settings], Settings]
    digest: str
    fill: Callable[[Settings], None]


class _SetByVariable(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        parser.error(
            f"{self.dest} is set by the environment: {self.dest}={self.metavar} {own_call()} run"
        )


def add_run(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    for name, example in (("PORT", "9000"), ("HOST", "0.0.0.0")):
        option = f"--{name.lower()}"
        command.add_argument(
            option, dest=name, metavar=example, action=_SetByVariable, help=argparse.SUPPRESS
        )
    if options := options_of_extensions("run"):
        source = command.add_mutually_exclusive_group()  # of which --help wants one option at least
        for extension_options in options:
            extension_options.add_arguments(source)


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run everything on one machine, and return the exit code."""
    if (code := run_of_extensions("run", settings, options)) is not None:
        return code
    if settings.rpc_urls:
        return run_chain(settings)
    for extension_options in options_of_extensions("run"):
        if extension_options.run_without_node is not None:
            return extension_options.run_without_node(settings)
    raise SettingError("RPC_URL", "", "must be set: no extension brings a demo chain")


def run_chain(settings: Settings, own_node: OwnNode | None = None, node: str = "") -> int:
    """Run everything for the chain of RPC_URL, or of a node that this process starts. `node` is
    what the start says of the node, by default where it is."""
    environment: dict[str, str] = {}
    if own_node is None:
        settled = [part.find(settings) for part in registry.parts(RunSettings)]
        node = node or node_origins(",".join(settings.rpc_urls))
        lines = (variables.line for variables in settled)
        print_lines(f"Page:   {settings.base_url}", f"Node:   {node}", *lines)
        environment = {name: text for v in settled for name, text in v.environment.items()}
    os.umask(0o077)  # the data directory contains the node's URL, often with an API key
    stop = threading.Event()
    startup.on_stop_signals(stop.set)
    with database_commands.locked_data_dir(settings, stop):
        startup.require_free_port(settings, stop)
        if settings.database_url:
            if own_node is not None:
                settings = own_node.start(settings)
            _run_children(settings, stop, environment, own_node)
        else:
            _run_with_postgres(settings, stop, environment, own_node)
    return 0


def _run_with_postgres(
    settings: Settings,
    stop: threading.Event,
    environment: Mapping[str, str],
    own_node: OwnNode | None,
) -> None:
    """Run on the embedded PostgreSQL, with one database per chain. When the node serves another
    chain, switch to its database."""
    postgres = EmbeddedPostgres(settings.data_dir)
    try:
        with ThreadPoolExecutor(1) as beside:  # the node reads its chain meanwhile
            started = beside.submit(database_commands.start_database, postgres, stop)
            if own_node is not None:
                settings = own_node.start(settings)
        started.result()
        while (name := database_of_chain(settings, postgres, stop, own_node)) and not stop.is_set():
            if name not in postgres.databases():
                _name_older(postgres, name)
            url = postgres.database_url(name)
            read_url = settings.read_database_url or url
            of_chain = replace(settings, database_url=url, read_database_url=read_url)
            startup.publish_database(of_chain)
            over = threading.Event()
            if own_node is None:
                of_chain = replace(of_chain, sources_dir=settings.data_dir / SOURCES_FOLDER)
                threading.Thread(target=watch, args=(of_chain, name, over), daemon=True).start()
            try:
                _run_children(of_chain, stop, environment, own_node, postgres, over)
            finally:
                over.set()
    finally:
        log.info("stopping PostgreSQL")
        startup.withdraw_database(settings)
        postgres.stop()


MOST_NAMED = 3


def _name_older(postgres: EmbeddedPostgres, new: str) -> None:
    """Say which older databases of the chain id of a new one have what no index has again."""
    beginning = "_".join(new.split("_")[:2])
    others = [name for name in postgres.databases() if name.startswith(f"{beginning}_")]
    with_rows: list[tuple[int, int, str]] = []
    for name in others:
        url = postgres.database_url(name)
        with closing(Database(url, statement_timeout_ms=5000)) as older, suppress(ScanError):
            [(keys, webhooks)] = older.rows("database/owners_count")
            with_rows += [(keys, webhooks, name)] if keys or webhooks else []
    for keys, webhooks, name in sorted(with_rows)[-MOST_NAMED:]:
        log.warning(
            "%s is a new database; %s has %d API keys and %d webhooks: to copy them, run"
            " `scan backup --owners owners.jsonl --database %s` and, while this runs,"
            " `scan restore --owners owners.jsonl`",
            *(new, name, keys, webhooks, name),
        )


def database_of_chain(
    settings: Settings, postgres: EmbeddedPostgres, stop: threading.Event, own_node: OwnNode | None
) -> str:
    """Return the name of the chain's database, after waiting for the node; "" when stopped. While
    the node is away, the name that it had last is used; UNKNOWN_CHAIN while it lacks block 0."""
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    key = settings.rpc_urls[0]
    while not stop.is_set():
        try:
            name = database_name(chain_identity.read_identity(node))
            if own_node is not None:
                return f"{name}_{own_node.digest}"
            if name != postgres.chain_of(key) and not all(
                not stop.wait(START_EVERY_S)
                and database_name(chain_identity.read_identity(node)) == name
                for _ in range(CONFIRMATIONS)
            ):
                continue
            postgres.remember_chain(key, name)
            return name
        except NodeError as error:
            last_name = postgres.chain_of(key)
            if last_name is not None:
                return last_name
            if is_due("node"):
                log.warning("waiting for the node of RPC_URL: %s (%s)", error, node.origins)
            if isinstance(error, HistoryPruned):
                return UNKNOWN_CHAIN
            stop.wait(2.0)
    return ""


def _run_children(
    settings: Settings,
    stop: threading.Event,
    environment: Mapping[str, str],
    own_node: OwnNode | None,
    postgres: EmbeddedPostgres | None = None,
    over: threading.Event | None = None,
) -> None:
    """Run indexer and API until stopped, or until it is over with this chain."""
    # The children do this too, but would be restarted again and again if it fails.
    startup.prepare_database(settings, reads=True, may_be_away=False)
    if own_node is not None:
        own_node.fill(settings)
    environment = {**child_environment(settings), **environment}
    children = [
        ChildProcess("indexer", environment, "index"),
        ChildProcess("api", environment, "serve"),
    ]
    is_greeted = False

    def goes_on() -> bool:
        nonlocal is_greeted
        if postgres is not None and not postgres.is_running():
            if is_due("PostgreSQL has ended"):
                log.warning("PostgreSQL has ended; restarting it")
            try:
                postgres.start()
            except StartFailed as error:
                log_pause(log, "PostgreSQL", error)
        is_greeted = is_greeted or _greet(settings)
        return over is None or not over.is_set()

    keep_running(settings, children, stop, goes_on)


def _greet(settings: Settings) -> bool:
    """Print where the service runs, if it does; return whether it does."""
    try:
        if service_client.send(settings, f"{settings.base_url}/healthz", timeout_s=2).status != 200:
            return False
    except service_client.NoResponse:
        return False
    # It imports Flask and more, while the service starts.
    from scan.http import credentials_and_limits

    advice: Sequence[str] = ()
    if credentials_and_limits.serves_own_machine(settings):
        advice = (
            "Limits are those of a public service. On your own machine, start it with",
            f"  {credentials_and_limits.RAISE_REQUESTS} {credentials_and_limits.RAISE_PAGES}",
            f"to raise them, and with {credentials_and_limits.ALLOW_RECEIVERS}",
            "to have webhooks delivered to servers on it.",
        )
    base = f"{settings.base_url}/api/v1"
    print_lines(
        "",
        f"Scan is running at {settings.base_url} (Ctrl-C to stop). Try:",
        f"  curl {base}/stats",
        f"  curl '{base}/transactions?limit=2'",
        f"  curl {base}/blocks",
        f"or open {settings.base_url} in a browser. `scan --help` lists other commands.",
        *advice,
    )
    return True


# Development nodes are restarted often; for other nodes fewer requests are enough.
LOCAL_EVERY_S, REMOTE_EVERY_S = 1.0, 30.0
# Reads before another chain's database is used, at a start, and in place of the one in use: a node
# that is wrong for seconds must not take the index away.
CONFIRMATIONS, START_EVERY_S, CONFIRM_EVERY_S = 5, 0.1, 1.0
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", None)  # None: an IPC socket


def database_name(chain: ChainIdentity) -> str:
    """Return the name of a chain's database, with the genesis hash: chains with the same id differ
    in it, but for a development node's fork of a chain."""
    fork = "_fork" if chain.is_fork else ""
    return f"scan_{chain.chain_id}_{chain.genesis_hash[:4].hex()}{fork}"


def watch(
    settings: Settings,
    name: str,
    over: threading.Event,
    local_every_s: float = LOCAL_EVERY_S,
    confirm_every_s: float = CONFIRM_EVERY_S,
) -> None:
    """Poll the nodes until they serve a chain with another database than `name`, and set `over`
    then; end when it is set.

    All nodes that respond must agree, several times, so that neither one wrong node nor one wrong
    response can switch the database.
    """
    nodes = [Node((url,), ca_bundle=settings.ca_bundle) for url in settings.rpc_urls]
    hosts = {urlsplit(url).hostname for url in settings.rpc_urls}
    every_s = local_every_s if hosts <= set(LOCAL_HOSTS) else REMOTE_EVERY_S
    while not over.wait(every_s):
        chain = _other_chain(nodes, name)
        if chain is not None and all(
            not over.wait(confirm_every_s) and _other_chain(nodes, name) == chain
            for _ in range(CONFIRMATIONS)
        ):
            log.warning("the node at RPC_URL now serves %s: switching to that chain", chain)
            over.set()


def _other_chain(nodes: Sequence[Node], name: str) -> ChainIdentity | None:
    chains = set()
    for node in nodes:
        with suppress(NodeError):
            chains.add(chain_identity.read_identity(node))
    if len(chains) == 1 and database_name(chain := chains.pop()) != name:
        return chain
    return None
