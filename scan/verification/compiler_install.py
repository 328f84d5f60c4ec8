"""Fetches compilers: the native build through solc-select, or else npm's, behind solc.js.

Both downloads are checked against the digest their publisher lists, and the placed compiler must
say the version it was asked for: npm's solc 0.8.1 is 0.8.0, and 0.8.7 is 0.7.5 (0.8.7-fixed is it).
"""

import base64
import hashlib
import json
import logging
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillFetching
from pathlib import Path
from urllib.parse import urlsplit

from scan.errors import ScanError, Unavailable
from scan.verification.compiler import Compilers, end_session, note_digest, sha256
from scan.verification.compiler_releases import Release, dotted, no_such_release

log = logging.getLogger(__name__)

NATIVE_TIMEOUT_S = 120.0
NPM_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 3.0
WAIT_IN_REQUEST_S = 8.0
REMEMBER_FAILURE_S = 300.0
MOST_QUEUED = 4

_SOLC_SELECT = "from solc_select.__main__ import solc_select; solc_select()"
_WRAPPER = Path(__file__).with_name("solc.js")
_NOT_PUBLISHED = re.compile(r"E404|No match(ing version)? found|ETARGET")


class NotFetched(Exception):
    """A compiler that could not be had from one source; the message says why."""


class NotPublished(NotFetched):
    """The source answered: there is no such version."""


def install(wanted: Release, directory: Path) -> str:
    """Places the compiler; returns where it is from. Raises NotFetched, NotPublished."""
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".placing-", dir=directory) as staging:
        source, folder = _fetch(wanted, Path(staging))
        _check_version(wanted, folder)
        _place(folder, directory / folder.name)
    return source


def _fetch(wanted: Release, staging: Path) -> tuple[str, Path]:
    try:
        return "a native build", _native(wanted, staging)
    except NotFetched as error:
        log.info("no native solc %s: %s", dotted(wanted), error)
    return "npm", _from_npm(wanted, staging)


def _native(wanted: Release, staging: Path) -> Path:
    """solc-select checks SHA-256 and Keccak-256 against the publisher's list.

    It runs as a process of its own since its downloads have no time-out and its folder is fixed at
    import. Without a connection it would retry for 30 s, so that is tried first.
    """
    _probe()
    name = f"solc-{dotted(wanted)}"
    command = [sys.executable, "-c", _SOLC_SELECT, "install", dotted(wanted)]
    _finish(["env", f"VIRTUAL_ENV={staging}", *command], staging, NATIVE_TIMEOUT_S)
    folder = staging / ".solc-select" / "artifacts" / name
    if not (folder / name).is_file():
        raise NotFetched("solc-select has no such build")
    note_digest(folder, name)
    return folder


def _probe() -> None:
    from solc_select.solc_select import get_url  # makes a folder at import

    host = urlsplit(get_url()[0]).hostname or ""
    try:
        socket.create_connection((host, 443), PROBE_TIMEOUT_S).close()
    except OSError:
        raise NotFetched("its publisher cannot be reached") from None


def _from_npm(wanted: Release, staging: Path) -> Path:
    if not (shutil.which("npm") and shutil.which("node")):
        raise NotFetched("npm and node are not installed, and no native build can be fetched")
    fault = NotFetched("npm has no usable build")
    for version in (dotted(wanted), f"{dotted(wanted)}-fixed"):
        try:
            folder = _unpack(wanted, _pack(version, staging), staging)
            _check_version(wanted, folder)
            return folder
        except NotFetched as error:
            fault = fault if isinstance(error, NotPublished) and "-fixed" in version else error
    raise fault


def _pack(version: str, staging: Path) -> Path:
    """The package's tarball, equal to the integrity that the registry lists for it."""
    package = f"solc@{version}"
    quiet = ["--json", "--loglevel=error"]
    listed = _finish(["npm", "view", package, "dist.integrity", *quiet], staging, NPM_TIMEOUT_S)
    where = ["--pack-destination", str(staging), "--ignore-scripts"]
    _finish(["npm", "pack", package, *quiet, *where], staging, NPM_TIMEOUT_S)
    tarball = staging / f"solc-{version}.tgz"
    if not tarball.is_file() or _integrity(tarball) != _listed_integrity(listed):
        raise NotFetched("npm's package does not have the digest that its registry lists")
    return tarball


def _integrity(tarball: Path) -> str:
    digest = hashlib.sha512(tarball.read_bytes()).digest()
    return f"sha512-{base64.b64encode(digest).decode()}"


def _listed_integrity(answer: str) -> object:
    try:
        return json.loads(answer)
    except ValueError:
        raise NotPublished("npm has no such version") from None


def _unpack(wanted: Release, tarball: Path, staging: Path) -> Path:
    name = f"solc-{dotted(wanted)}"
    folder = staging / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tarfile.open(tarball) as package:
        try:
            soljson = package.extractfile("package/soljson.js")
        except KeyError:
            soljson = None
        if soljson is None:
            raise NotFetched("npm's package holds no soljson.js")
        with (folder / "soljson.js").open("wb") as target:
            shutil.copyfileobj(soljson, target)
    shutil.copyfile(_WRAPPER, folder / name)
    (folder / name).chmod(0o755)
    note_digest(folder, "soljson.js")
    return folder


def _check_version(wanted: Release, folder: Path) -> None:
    says = _finish([str(folder / folder.name), "--version"], folder, 30.0)
    version = re.search(r"Version: ([0-9.]+)", says)
    if not version or version[1] != dotted(wanted):
        raise NotFetched(f"the one there is says {version[1] if version else 'nothing'} of itself")


def _place(folder: Path, target: Path) -> None:
    """Whole or not at all: by a rename within one file system."""
    if target.exists():
        shutil.rmtree(target)
    folder.rename(target)


def _finish(command: Sequence[str], folder: Path, timeout_s: float) -> str:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    try:
        output, faults = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        raise NotFetched(f"{command[0]} did not finish in {timeout_s:.0f} s") from None
    finally:
        end_session(process)
    if process.returncode == 0:
        return output
    if _NOT_PUBLISHED.search(output + faults):
        raise NotPublished("npm has no such version")
    raise NotFetched(f"{Path(command[0]).name} failed: {faults.strip()[-200:]}")


class Installer:
    """Fetches in the background, one at a time, what requests find missing."""

    def __init__(self, compilers: Compilers) -> None:
        self._compilers = compilers
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fetching: dict[Release, Future[str]] = {}
        self._failed: dict[Release, tuple[float, NotFetched]] = {}

    def executable(self, wanted: Release, wait_s: float = WAIT_IN_REQUEST_S) -> Path:
        """The compiler, waiting a little for it; Unavailable while it is still being fetched."""
        found = self._compilers.find(wanted)
        if found:
            return found
        self._raise_remembered(wanted)
        try:
            self._start(wanted).result(wait_s)
        except StillFetching:
            raise Unavailable(
                f"The compiler {dotted(wanted)} is being fetched; try again shortly.",
                retry_after_s=10,
            ) from None
        except (NotFetched, OSError):
            self._raise_remembered(wanted)
        found = self._compilers.find(wanted)
        if not found:
            raise _unfetchable(wanted)
        return found

    def _start(self, wanted: Release) -> "Future[str]":
        with self._lock:
            if wanted not in self._fetching:
                if len(self._fetching) >= MOST_QUEUED:
                    raise Unavailable("Other compilers are being fetched.", retry_after_s=30)
                self._pool = self._pool or ThreadPoolExecutor(1, "solc-install")
                self._fetching[wanted] = self._pool.submit(self._fetch, wanted)
            return self._fetching[wanted]

    def _fetch(self, wanted: Release) -> str:
        try:
            source = install(wanted, self._compilers.directory)
            log.info("placed solc %s from %s", dotted(wanted), source)
            return source
        except (NotFetched, OSError) as error:
            log.warning("cannot fetch solc %s: %s", dotted(wanted), error)
            known = error if isinstance(error, NotFetched) else NotFetched(str(error))
            self._failed[wanted] = (time.monotonic(), known)
            raise
        finally:
            with self._lock:
                self._fetching.pop(wanted, None)

    def _raise_remembered(self, wanted: Release) -> None:
        when, error = self._failed.get(wanted, (0.0, None))
        if error is None or time.monotonic() - when > REMEMBER_FAILURE_S:
            return
        raise no_such_release(wanted) if isinstance(error, NotPublished) else _unfetchable(wanted)


def _unfetchable(wanted: Release) -> ScanError:
    return Unavailable(
        f"The compiler {dotted(wanted)} is not installed here and cannot be fetched now; "
        f"the operator can add it with: scan solc install {dotted(wanted)}",
        retry_after_s=300,
    )


def install_one(compilers: Compilers, wanted: Release) -> str:
    """For `scan solc install`: what was done and the digest of it, as a line to print."""
    found = compilers.find(wanted)
    source = "already there" if found else f"from {install(wanted, compilers.directory)}"
    executable = compilers.find(wanted)
    if executable is None:
        raise NotFetched("it was placed, but cannot be executed")
    soljson = executable.with_name("soljson.js")
    digest = sha256(soljson if soljson.is_file() else executable)
    return f"solc {dotted(wanted)} {source}, sha256 {digest}"
