"""Fetches compilers: the native build through solc-select, or else npm's, behind solc.js.

A native build is checked against the digests its publisher lists; npm's package against
npm_digests.json, or, where a version is not in there, against its registry's list. Then it must
state the version it was asked for: npm's solc 0.8.1 is 0.8.0, and 0.8.7 is 0.7.5 (0.8.7-fixed).
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
from scan.verification.compiler import stated_version
from scan.verification.compiler_releases import SolcVersion, dotted, no_such_release
from scan.verification.installed_compilers import InstalledCompilers, record_digest, sha256
from scan.verification.sandbox import Program, end_session

log = logging.getLogger(__name__)

NATIVE_TIMEOUT_S = 120.0
NPM_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 3.0
WAIT_IN_REQUEST_S = 8.0
REMEMBER_FAILURE_S = 300.0
MOST_QUEUED = 4

_SOLC_SELECT = "from solc_select.__main__ import solc_select; solc_select()"
_WRAPPER = Path(__file__).with_name("solc.js")
_NPM_DIGESTS = Path(__file__).with_name("npm_digests.json")
_NOT_PUBLISHED = re.compile(r"E404|No match(ing version)? found|ETARGET")


class NotFetched(Exception):
    """A compiler that one source did not give; the message is the reason."""


class NotPublished(NotFetched):
    """The source answered: there is no such version."""


def install(wanted: SolcVersion, compilers: InstalledCompilers) -> str:
    """Places the compiler; returns where it is from. Raises NotFetched, NotPublished."""
    directory = compilers.directory
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".placing-", dir=directory) as staging:
        source, folder = _fetch(wanted, Path(staging), compilers.path)
        _place(folder, directory / folder.name)
    return source


def _fetch(wanted: SolcVersion, staging: Path, path: str) -> tuple[str, Path]:
    try:
        folder = _native(wanted, staging)
        _check_version(wanted, folder, path)
        return "a native build", folder
    except NotFetched as error:
        log.info("no native solc %s: %s", dotted(wanted), error)
    return "npm", _from_npm(wanted, staging, path)


def _native(wanted: SolcVersion, staging: Path) -> Path:
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
    record_digest(folder, name)
    return folder


def _probe() -> None:
    from solc_select.solc_select import get_url  # makes a folder at import

    host = urlsplit(get_url()[0]).hostname or ""
    try:
        socket.create_connection((host, 443), PROBE_TIMEOUT_S).close()
    except OSError:
        raise NotFetched("its publisher cannot be reached") from None


def _from_npm(wanted: SolcVersion, staging: Path, path: str) -> Path:
    if not (shutil.which("npm") and shutil.which("node")):
        raise NotFetched("npm and node are not installed, and no native build can be fetched")
    fault = NotFetched("npm has no usable build")
    for version in (dotted(wanted), f"{dotted(wanted)}-fixed"):
        try:
            folder = _unpack(wanted, _pack(version, staging), staging)
            _check_version(wanted, folder, path)
            return folder
        except NotFetched as error:
            fault = fault if isinstance(error, NotPublished) and "-fixed" in version else error
    raise fault


def _pack(version: str, staging: Path) -> Path:
    """The package's tarball, whose digest is the pinned one or the one that the registry lists."""
    package = f"solc@{version}"
    quiet = ["--json", "--loglevel=error"]
    listed = _finish(["npm", "view", package, "dist.integrity", *quiet], staging, NPM_TIMEOUT_S)
    expected = _pinned_digests().get(version) or _listed_integrity(listed)
    where = ["--pack-destination", str(staging), "--ignore-scripts"]
    _finish(["npm", "pack", package, *quiet, *where], staging, NPM_TIMEOUT_S)
    tarball = staging / f"solc-{version}.tgz"
    if not tarball.is_file() or _integrity(tarball) != expected:
        raise NotFetched("npm's package does not have the digest expected of it")
    return tarball


def _pinned_digests() -> dict[str, str]:
    """By npm's version: as the registry listed them when this was released."""
    pinned: dict[str, str] = json.loads(_NPM_DIGESTS.read_text())
    return pinned


def _integrity(tarball: Path) -> str:
    digest = hashlib.sha512(tarball.read_bytes()).digest()
    return f"sha512-{base64.b64encode(digest).decode()}"


def _listed_integrity(answer: str) -> object:
    try:
        return json.loads(answer)
    except ValueError:
        raise NotPublished("npm has no such version") from None


def _unpack(wanted: SolcVersion, tarball: Path, staging: Path) -> Path:
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
    record_digest(folder, "soljson.js")
    return folder


def _check_version(wanted: SolcVersion, folder: Path, path: str) -> None:
    version = stated_version(Program(folder / folder.name, path))
    if version != dotted(wanted):
        raise NotFetched(f"the one published states version {version or 'nothing'}")


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


class CompilerInstaller:
    """Fetches in the background, one at a time, what requests find missing."""

    def __init__(self, compilers: InstalledCompilers) -> None:
        self._compilers = compilers
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fetching: dict[SolcVersion, Future[str]] = {}
        self._failed: dict[SolcVersion, tuple[float, NotFetched]] = {}

    def compiler(self, wanted: SolcVersion, wait_s: float = WAIT_IN_REQUEST_S) -> Program:
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

    def _start(self, wanted: SolcVersion) -> "Future[str]":
        with self._lock:
            if wanted not in self._fetching:
                if len(self._fetching) >= MOST_QUEUED:
                    raise Unavailable("Other compilers are being fetched.", retry_after_s=30)
                self._pool = self._pool or ThreadPoolExecutor(1, "solc-install")
                self._fetching[wanted] = self._pool.submit(self._fetch, wanted)
            return self._fetching[wanted]

    def _fetch(self, wanted: SolcVersion) -> str:
        try:
            source = install(wanted, self._compilers)
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

    def _raise_remembered(self, wanted: SolcVersion) -> None:
        when, error = self._failed.get(wanted, (0.0, None))
        if error is None or time.monotonic() - when > REMEMBER_FAILURE_S:
            return
        raise no_such_release(wanted) if isinstance(error, NotPublished) else _unfetchable(wanted)


def _unfetchable(wanted: SolcVersion) -> ScanError:
    return Unavailable(
        f"The compiler {dotted(wanted)} is not installed here and cannot be fetched now; "
        f"the operator can add it with: scan solc install {dotted(wanted)}",
        retry_after_s=300,
    )


def install_one(compilers: InstalledCompilers, wanted: SolcVersion) -> str:
    """For `scan solc install`: what was done and the compiler's digest, as a line to print."""
    found = compilers.find(wanted)
    source = "already there" if found else f"from {install(wanted, compilers)}"
    compiler = compilers.find(wanted)
    if compiler is None:
        raise NotFetched("it was placed, but cannot be executed")
    soljson = compiler.executable.with_name("soljson.js")
    digest = sha256(soljson if soljson.is_file() else compiler.executable)
    return f"solc {dotted(wanted)} {source}, sha256 {digest}"
