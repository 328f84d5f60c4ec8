"""The service and what it is compared with, each one process on a loopback port."""

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.options import Options
from bench.processes import free_port, running, wait_until_it_answers
from scan.settings import ROOT

# The limiter does all its work, headers included, but refuses nothing.
LIMITS = {
    "SCAN_RATE_LIMIT_ANONYMOUS": "900000000/second",
    "SCAN_RATE_LIMIT_KEY": "900000000/second",
}
SETTINGS = str(ROOT / "bench" / "rivals" / "gunicorn_settings.py")
GUNICORN = [sys.executable, "-m", "gunicorn", "--config", SETTINGS]
UVICORN = [sys.executable, "-m", "uvicorn", "--loop=uvloop", "--http=httptools"]
QUIET = ["--log-level=warning", "--no-access-log"]


NAMES = ("scan", "small", "bare", "plain", "fastapi", "orm")


class Server(NamedTuple):
    """`name`: node, scan, small (scan on a small chain), bare, plain, fastapi or orm."""

    name: str
    url: str
    pid: int


@contextmanager
def started(
    options: Options, url: str, small_url: str, files: Path, names: Collection[str] = NAMES
) -> Iterator[list[Server]]:
    """Those that are named, and a node for balances and fields of transactions."""
    with ExitStack() as stack:

        def start(name: str, command: list[str], **environment: str) -> Server:
            port = free_port()
            log = options.folder / f"{name}.log"
            command = [part.replace("PORT", str(port)) for part in command]
            environment |= {"HOST": "127.0.0.1", "PORT": str(port)}
            process = stack.enter_context(running(command, log, environment))
            address = f"http://127.0.0.1:{port}"
            wait_until_it_answers(f"{address}/healthz", process, log)
            return Server(name, address, process.pid)

        blocks = f"--blocks={options.transactions // 150}"
        seeded = f"--seeded={url}"
        node = start("node", [sys.executable, "-m", "bench.node", "--port=PORT", blocks, seeded])
        scan = [sys.executable, "-m", "scan", "serve"]
        service = {"RPC_URL": node.url, **LIMITS}
        fastapi = [*UVICORN, *QUIET, "--port=PORT", "bench.rivals.fastapi_app:app"]
        plain = [*GUNICORN, "bench.rivals.plain:app"]
        commands: Mapping[str, tuple[list[str], dict[str, str]]] = {
            "scan": (scan, {"DATABASE_URL": url, **service}),
            "small": (scan, {"DATABASE_URL": small_url, **service}),
            "bare": ([*GUNICORN, "bench.rivals.bare:app"], {"BENCH_FILES": str(files)}),
            "plain": (plain, {"DATABASE_URL": url, "BENCH_FILES": str(files)}),
            "fastapi": (fastapi, {"DATABASE_URL": url}),
            "orm": ([*GUNICORN, "bench.rivals.orm_app:create_app()"], {"DATABASE_URL": url}),
        }
        started = [start(name, commands[name][0], **commands[name][1]) for name in names]
        yield [node, *started]
