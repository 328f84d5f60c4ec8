"""The store of compilers of one kind: those on disk, in solc-select's layout (in one folder
`solc-0.8.26/solc-0.8.26`), and downloads of others. Of Solidity: the native build through
solc-select, otherwise npm's, run by solc.js; of Vyper: see languages/vyper.py.

A native build is checked against the digests listed by its publisher; npm's package against
npm_digests.json, or against the registry's list for a version that is not in that file. Then the
compiler must report the requested version: npm's solc 0.8.1 is 0.8.0, and its 0.8.7 is 0.7.5 (see
0.8.7-fixed).
"""

import base64
import hashlib
import json
import logging
import os
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillFetching
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from scan.errors import CompilerUnavailable, InvalidParameter, ScanError, Unavailable
from scan.files import held_folder
from scan.settings import Settings, solc_select_folder
from scan.verification.compiler_run import stated_version
from scan.verification.sandbox import Program, end_session, start
from scan.verification.settings_search import SolcVersion, dotted, no_such_release, parse_version

log = logging.getLogger(__name__)

WAIT_IN_REQUEST_S = 8.0
REMEMBER_FAILURE_S = 300.0
MOST_QUEUED = 4
NATIVE_TIMEOUT_S = 120.0
NPM_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 3.0

_PUBLISHER = "binaries.soliditylang.org"
_WRAPPER = Path(__file__).with_name("solc.js")
NPM_DIGESTS = Path(__file__).with_name("npm_digests.json")
_NOT_PUBLISHED = re.compile(r"E404|No match(ing version)? found|ETARGET")
_DIGEST_FILE = "SHA256"


class NotFetched(Exception):
    """A compiler could not be downloaded from one source; the message is the reason."""


class NotPublished(NotFetched):
    """The source has no such version."""


class CompilerKind(NamedTuple):
    """The compilers of one language. `name` begins their folders and names their subcommand of
    `scan`; `title` is for messages.

    `fetch` takes a version, an empty folder and a PATH, and returns the source's name and the
    compiler's folder in that folder; it raises NotFetched, NotPublished. `known_releases` have a
    pinned digest. `commit_file`, in the compiler's folder, has its commit, where no output has it.
    """

    name: str
    title: str
    parse_version: Callable[[object], SolcVersion]
    known_releases: Callable[[], Sequence[SolcVersion]]
    fetch: Callable[[SolcVersion, Path, str], tuple[str, Path]]
    commit_file: str | None = None


class CompilerStore:
    """The compilers in one directory. Downloaded ones are checked before they run; missing ones are
    downloaded in the background, one at a time, when a request first names them."""

    def __init__(self, settings: Settings, kind: CompilerKind | None = None) -> None:
        self.directory = settings.solc_dir or solc_select_folder()
        self.path = settings.path
        self.kind = kind or SOLC
        self._settings = settings
        self._others: dict[str, CompilerStore] = {}
        self._checked: dict[Path, list[tuple[int, int]]] = {}
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._fetching: dict[SolcVersion, Future[str]] = {}
        self._failed: dict[SolcVersion, tuple[float, NotFetched]] = {}

    def of(self, kind: CompilerKind) -> "CompilerStore":
        """Return the store of another kind in the same directory."""
        if kind.name == self.kind.name:
            return self
        with self._lock:
            if kind.name not in self._others:
                self._others[kind.name] = CompilerStore(self._settings, kind)
            return self._others[kind.name]

    def versions(self) -> list[SolcVersion]:
        return sorted(version for version in self.placed() if self.find(version))

    def placed(self) -> set[SolcVersion]:
        """Return the releases that have a folder, without checking their digests."""
        versions = set()
        for folder in self.directory.glob(f"{self.kind.name}-*"):
            with suppress(InvalidParameter):
                versions.add(self.kind.parse_version(folder.name.partition("-")[2]))
        return versions

    def find(self, version: SolcVersion) -> Program | None:
        """Return the compiler, None if it is not installed. Raises Unavailable if it has changed
        since its download."""
        name = f"{self.kind.name}-{dotted(version)}"
        executable = self.directory / name / name
        if not os.access(executable, os.X_OK) or not executable.is_file():
            return None
        self._check_digest(executable.parent)
        return Program(executable, self.path)

    def commit(self, version: SolcVersion) -> str:
        """Return the commit of an installed compiler that has a file of it; "" for others."""
        if self.kind.commit_file is None:
            return ""
        folder = self.directory / f"{self.kind.name}-{dotted(version)}"
        try:
            return (folder / self.kind.commit_file).read_text().strip()
        except OSError:
            return ""

    def compiler(self, version: SolcVersion, wait_s: float = WAIT_IN_REQUEST_S) -> Program:
        """Return the compiler, downloaded if it is missing. Raises Unavailable where the download
        takes longer than `wait_s` or fails, InvalidParameter where there is no such release."""
        installed = self.find(version)
        if installed:
            return installed
        self._raise_remembered(version)
        try:
            self._start(version).result(wait_s)
        except StillFetching:
            message = f"The compiler {dotted(version)} is being downloaded; try again shortly."
            raise Unavailable(message, retry_after_s=10) from None
        except (NotFetched, OSError):
            self._raise_remembered(version)
        installed = self.find(version)
        if not installed:
            raise self._unfetchable(version)
        return installed

    def releases(self) -> dict[SolcVersion, bool]:
        """Return the releases that a request may name, newest first, with whether each is
        installed."""
        installed = self.placed()
        releases = sorted({*self.kind.known_releases(), *installed}, reverse=True)
        return {version: version in installed for version in releases}

    def install(self, version: SolcVersion) -> str:
        """Install a compiler and return the name of its source. Processes that share the directory
        do so in turn. Raises NotFetched, NotPublished."""
        with (
            held_folder(self.directory, waits=True),
            tempfile.TemporaryDirectory(prefix=".placing-", dir=self.directory) as staging,
        ):
            with suppress(Unavailable):  # a damaged one is replaced
                if self.find(version):
                    return "an earlier download"
            source, folder = self.kind.fetch(version, Path(staging), self.path)
            target = self.directory / folder.name
            if target.exists():
                shutil.rmtree(target)
            folder.rename(target)  # within one file system, hence all or nothing
        return source

    def _check_digest(self, folder: Path) -> None:
        """Raise Unavailable unless a downloaded compiler has the digest of its download."""
        recorded = folder / _DIGEST_FILE
        if not recorded.is_file():
            return
        digests = dict(line.split("  ", 1)[::-1] for line in recorded.read_text().splitlines())
        statuses = [(folder / name).stat() for name in digests]
        state = [(status.st_mtime_ns, status.st_size) for status in statuses]
        if self._checked.get(folder) == state:
            return
        if any(sha256(folder / name) != digest for name, digest in digests.items()):
            raise CompilerUnavailable(f"The compiler in {folder.name} is damaged: install it anew.")
        self._checked[folder] = state

    def _start(self, version: SolcVersion) -> "Future[str]":
        with self._lock:
            if version not in self._fetching:
                if len(self._fetching) >= MOST_QUEUED:
                    raise Unavailable("Other compilers are being downloaded.", retry_after_s=30)
                self._pool = self._pool or ThreadPoolExecutor(1, f"{self.kind.name}-install")
                self._fetching[version] = self._pool.submit(self._fetch_missing, version)
            return self._fetching[version]

    def _fetch_missing(self, version: SolcVersion) -> str:
        try:
            source = self.install(version)
            log.info("installed %s %s from %s", self.kind.name, dotted(version), source)
            return source
        except (NotFetched, OSError) as error:
            log.warning("cannot download %s %s: %s", self.kind.name, dotted(version), error)
            reason = error if isinstance(error, NotFetched) else NotFetched(str(error))
            self._failed[version] = (time.monotonic(), reason)
            raise
        finally:
            with self._lock:
                self._fetching.pop(version, None)

    def _raise_remembered(self, version: SolcVersion) -> None:
        when, error = self._failed.get(version, (0.0, None))
        if error is None or time.monotonic() - when > REMEMBER_FAILURE_S:
            return
        if isinstance(error, NotPublished):
            raise no_such_release(version, self.kind.title)
        raise self._unfetchable(version)

    def _unfetchable(self, version: SolcVersion) -> ScanError:
        return CompilerUnavailable(
            f"The compiler {dotted(version)} is not installed on this server and cannot be"
            " downloaded now; the operator can add it with:"
            f" scan {self.kind.name} install {dotted(version)}",
            retry_after_s=300,
        )


def _fetch(version: SolcVersion, staging: Path, path: str) -> tuple[str, Path]:
    try:
        folder = download_native(version, staging)
        check_version(version, folder, path)
        return "a native build", folder
    except NotFetched as error:
        log.info("no native solc %s: %s", dotted(version), error)
    return "npm", _npm_build(version, staging, path)


def download_native(
    version: SolcVersion, staging: Path, timeout_s: float = NATIVE_TIMEOUT_S
) -> Path:
    """Download a native build and return its folder. solc-select checks SHA-256 and Keccak-256
    against the publisher's list.

    Without a connection it would retry for 30 s, so the connection is tried first.
    """
    program = _solc_select()
    _probe()
    name = f"solc-{dotted(version)}"
    command = ["env", f"VIRTUAL_ENV={staging}", program, "install", dotted(version)]
    finish(command, staging, timeout_s)
    folder = staging / ".solc-select" / "artifacts" / name
    if not (folder / name).is_file():
        raise NotFetched("solc-select has no such build")
    record_digest(folder, name)
    return folder


def _solc_select() -> str:
    """Return the path of solc-select's program, which is run and never imported: its licence is
    AGPL-3.0. Raises NotFetched where it was left out."""
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files("solc-select") or ():
            if file.name == "solc-select":
                return str(file.locate())
    raise NotFetched("solc-select is not installed")


def _probe() -> None:
    try:
        socket.create_connection((_PUBLISHER, 443), PROBE_TIMEOUT_S).close()
    except OSError:
        raise NotFetched("its publisher cannot be reached") from None


def _npm_build(version: SolcVersion, staging: Path, path: str) -> Path:
    if not (shutil.which("npm") and shutil.which("node")):
        raise NotFetched("npm and node are not installed, and no native build can be fetched")
    fault = NotFetched("npm has no usable build")
    for npm_version in (dotted(version), f"{dotted(version)}-fixed"):
        try:
            folder = _unpack(version, _download_package(npm_version, staging), staging)
            check_version(version, folder, path)
            return folder
        except NotFetched as error:
            fault = fault if isinstance(error, NotPublished) and "-fixed" in npm_version else error
    raise fault


def _download_package(version: str, staging: Path) -> Path:
    """Download the package's tarball, and check it against the pinned digest, or against the
    registry's if none is pinned."""
    package = f"solc@{version}"
    quiet = ["--json", "--loglevel=error"]
    listed = finish(["npm", "view", package, "dist.integrity", *quiet], staging, NPM_TIMEOUT_S)
    try:
        expected = json.loads(NPM_DIGESTS.read_text()).get(version) or json.loads(listed)
    except ValueError:
        raise NotPublished("npm has no such version") from None
    target = ["--pack-destination", str(staging), "--ignore-scripts"]
    finish(["npm", "pack", package, *quiet, *target], staging, NPM_TIMEOUT_S)
    tarball = staging / f"solc-{version}.tgz"
    digest = hashlib.sha512(tarball.read_bytes()).digest() if tarball.is_file() else b""
    if f"sha512-{base64.b64encode(digest).decode()}" != expected:
        raise NotFetched("npm's package does not have the expected digest")
    return tarball


def _unpack(version: SolcVersion, tarball: Path, staging: Path) -> Path:
    name = f"solc-{dotted(version)}"
    folder = staging / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    with tarfile.open(tarball) as package:
        soljson = None
        with suppress(KeyError):
            soljson = package.extractfile("package/soljson.js")
        if soljson is None:
            raise NotFetched("npm's package contains no soljson.js")
        with (folder / "soljson.js").open("wb") as target:
            shutil.copyfileobj(soljson, target)
    shutil.copyfile(_WRAPPER, folder / name)
    (folder / name).chmod(0o755)
    record_digest(folder, "soljson.js")
    return folder


def check_version(version: SolcVersion, folder: Path, path: str) -> None:
    reported = stated_version(Program(folder / folder.name, path))
    if reported != dotted(version):
        raise NotFetched(f"the published build reports version {reported or 'nothing'}")


def finish(command: Sequence[str], folder: Path, timeout_s: float) -> str:
    process = start(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        text=True,
        errors="replace",
    )
    try:
        output: str
        faults: str
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


def known_releases() -> list[SolcVersion]:
    """Return the releases whose digests are pinned here. Newer releases can be installed, too."""
    names = json.loads(NPM_DIGESTS.read_text())
    return sorted({parse_version(name.removesuffix("-fixed")) for name in names})


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def record_digest(folder: Path, *names: str) -> None:
    """Write the files' digests in sha256sum's format, so that operators can check them by that."""
    lines = (f"{sha256(folder / name)}  {name}\n" for name in names)
    (folder / _DIGEST_FILE).write_text("".join(lines))


SOLC = CompilerKind("solc", "Solidity", parse_version, known_releases, _fetch)
