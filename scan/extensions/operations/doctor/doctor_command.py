"""`scan doctor`: checks the node, the database and everything else that Scan depends on.

Each check is a function that yields findings. A finding of a fault says what to do.
"""

import argparse
import json
import shutil
import subprocess
from collections.abc import Callable

from scan.commands import service_client, startup
from scan.commands.run import overridden
from scan.database import connection, errors
from scan.errors import ScanError, SettingError
from scan.extensions.operations.doctor.checks import (
    GIB,
    LEAST_FREE_BYTES,
    Findings,
    check_database,
    check_node,
    failure,
    ok,
    warning,
)
from scan.observability.logs import print_lines
from scan.rate_limits.limiter import counts_in_process
from scan.rate_limits.window_storage import SharedWindows, refuse
from scan.setting_kinds import node_origins, without_password
from scan.settings import Settings, doubtful_variables
from scan.verification.compiler_store import CompilerStore

TIMEOUT_S = 10
# The advice where a check itself failed, by its subject.
ADVICE = {
    "database": "start PostgreSQL, or correct DATABASE_URL",
    "replica": "start the standby, or correct READ_DATABASE_URL",
    "limits": "start or mend it, or correct SCAN_RATE_LIMIT_STORAGE",
    "service": "start it, or correct --url",
}

DESCRIPTION = """\
Checks everything that Scan depends on, with this environment: the node (methods, traces, archive,
speed), the database (version, settings, schema, indexes, growth of its disk, WAL archive, clock),
the replica, Redis, compilers and disks. Each line is ok, a warning, or an error with what to do.
Changes nothing but a counter in Redis. With --url it also sends three requests to the service.
Exits 1 if there is an error."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=run)
    command.add_argument("--url", help="public URL of the service, to check it and its proxies")
    command.add_argument("--json", action="store_true", help="print JSON")


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Print a line for each finding, and return 1 if one of them is an error."""
    findings = []
    for finding in _findings(settings, options.url):
        findings.append(finding)
        if not options.json:
            print_lines(f"{finding.level:8} {finding.subject:10} {finding.text}")
            if finding.advice:
                print_lines(f"{'':20}-> {finding.advice}")
    if options.json:
        names = ("level", "subject", "text", "advice")
        print_lines(json.dumps([{name: getattr(f, name) for name in names} for f in findings]))
    return 1 if any(finding.level == "error" for finding in findings) else 0


def _findings(settings: Settings, url: str | None) -> Findings:
    for name, taken in overridden(settings).items():
        text = f"{name} has no effect on `scan run`, which uses {taken}"
        yield warning(text, "remove it, or start `scan index` and `scan serve`", "settings")
    try:
        settings = startup.settings_with_database(settings)
    except SettingError:
        text = "DATABASE_URL is not set and no `scan run` with this SCAN_DATA_DIR runs"
        advice = "set DATABASE_URL, or start `scan run`"
        yield failure(f"no database: {text}", advice, "database")
    checks: list[tuple[str, Callable[[Settings], Findings]]] = [
        ("settings", _check_variables),
        ("node", _check_nodes),
        ("database", _check_database),
        ("replica", _check_replica),
        ("limits", _check_limits),
        ("compilers", _check_compilers),
        ("disk", _check_data_directory),
    ]
    if url is not None:
        checks.append(("service", lambda _: _check_service(settings, url.rstrip("/"))))
    for subject, check in checks:
        try:
            for finding in check(settings):
                yield finding._replace(subject=finding.subject or subject)
        except (ScanError, OSError) as error:
            text = error.for_operators if isinstance(error, ScanError) else str(error)
            advice = ADVICE.get(subject, "see the log")
            if errors.NO_SPACE in text:
                advice = "add space to the database's disk"
            yield failure(text, advice, subject)


def _check_variables(_: Settings) -> Findings:
    for name, reason in doubtful_variables().items():
        yield warning(f"{name} {reason}", "correct or remove it")


def _check_nodes(settings: Settings) -> Findings:
    if not settings.rpc_urls:
        yield warning("RPC_URL is not set: `scan run` uses the demo chain", "set it")
    database = _open_if_reachable(settings.database_url)
    for number, url in enumerate(settings.rpc_urls, start=1):
        name = node_origins(url)
        subject = "node" if len(settings.rpc_urls) == 1 else f"node {number}"
        for finding in check_node(url, database, settings):
            yield finding._replace(text=f"{name}: {finding.text}", subject=subject)
    if database is not None:
        database.close()


def _check_database(settings: Settings) -> Findings:
    if not settings.database_url:
        return
    database = _open(settings.database_url)
    try:
        if database.value("database/session_is_read_only"):
            advice = "set the primary in DATABASE_URL, and the standby in READ_DATABASE_URL"
            yield failure("the server is read-only, such as a standby", advice)
        yield from check_database(database)
    except errors.SharedSession:
        advice = "set pool_mode = session, or connect to PostgreSQL directly"
        yield failure("the pooler shares sessions between clients", advice)
    finally:
        database.close()


def _check_replica(settings: Settings) -> Findings:
    if not settings.reads_replica:
        return
    primary, replica = _open(settings.database_url), _open(settings.read_database_url)
    try:
        newest = (primary.row("http/index_get_newest") or (0, None))[1]
        newest_of_replica = (replica.row("http/index_get_newest") or (0, None))[1]
    finally:
        primary.close()
        replica.close()
    lag = (newest or 0) - (newest_of_replica or 0)
    if lag > settings.max_lag_blocks:
        yield failure(f"{lag} blocks behind the primary", "check that the standby receives WAL")
    else:
        yield ok(f"{max(lag, 0)} blocks behind the primary")


def _check_limits(settings: Settings) -> Findings:
    if counts_in_process(settings):
        yield ok("counted in the API's process")
        return
    storage = without_password(settings.rate_limit_storage)
    error = SharedWindows(settings.rate_limit_storage, refuse).failure()
    if error is None:
        yield ok(f"counted in {storage}")
    else:
        yield failure(f"the storage does not count: {storage}: {error}", ADVICE["limits"])


def _check_compilers(settings: Settings) -> Findings:
    compilers = CompilerStore(settings)
    versions = compilers.versions()
    if not versions:
        text = f"none in {compilers.directory}"
        advice = (
            "`scan solc install 0.8.26`; others are downloaded on demand where that is possible"
        )
        yield warning(text, advice)
        return
    newest = compilers.find(versions[-1])
    assert newest is not None
    try:
        subprocess.run(
            [str(newest.executable), "--version"],
            env={"PATH": settings.path},
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
    except (subprocess.SubprocessError, OSError) as error:
        advice = "install it again; one that wraps npm's solc needs node in PATH"
        yield failure(f"the newest does not run: {error}", advice)
        return
    yield ok(f"{len(versions)} in {compilers.directory}")


def _check_data_directory(settings: Settings) -> Findings:
    folder = settings.data_dir
    existing = next(path for path in (folder, *folder.parents) if path.is_dir())
    free_bytes = shutil.disk_usage(existing).free
    text = f"{free_bytes / GIB:.0f} GiB free in {folder}"
    if free_bytes < LEAST_FREE_BYTES:
        yield failure(text, "files of lists and the database need more")
    else:
        yield ok(text)


def _check_service(settings: Settings, url: str) -> Findings:
    state = service_client.send(settings, f"{url}/readyz", TIMEOUT_S)
    body = state.json()
    if state.status != 200:
        text = body.get("problem") or body.get("error") or f"HTTP {state.status} at {url}/readyz"
        yield failure(str(text), "see its log")
    elif body.get("problem"):
        text = f"indexing is stopped: {body['problem']}"
        yield failure(text, "GET /readyz and the log have its newest state")
    else:
        lag = body.get("lagBlocks")
        behind = "how far behind the node is not known" if lag is None else f"{lag} blocks behind"
        yield ok(f"ready, {behind}")
    remaining = []
    for address in ("198.51.100.1", "198.51.100.2"):  # of RFC 5737
        headers = {"X-Forwarded-For": address}
        response = service_client.send(settings, f"{url}/api/v1/stats", TIMEOUT_S, headers=headers)
        remaining.append(response.headers.get("X-RateLimit-Remaining", ""))
    if not all(map(str.isdecimal, remaining)):
        return
    first, second = map(int, remaining)
    if second >= first and second > 0:
        text = "a client can choose its address by X-Forwarded-For, and so avoid every limit"
        advice = f"SCAN_TRUSTED_PROXIES must be the number of proxies in front of {url}"
        yield failure(text, advice, "proxies")
    else:
        yield ok("X-Forwarded-For of clients is not believed", "proxies")


def _open(url: str) -> connection.Database:
    return connection.Database(url, statement_timeout_ms=TIMEOUT_S * 1000, name="scan-doctor")


def _open_if_reachable(url: str) -> connection.Database | None:
    """Open the database; return None if it cannot be reached, which another check reports."""
    database = _open(url) if url else None
    try:
        if database is not None:
            database.value("database/session_is_read_only")
    except ScanError:
        return None
    return database
