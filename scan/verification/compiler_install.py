"""Downloads of compilers: the native build through solc-select, otherwise npm's, run by solc.js.

A native build is checked against the digests listed by its publisher; npm's package against
npm_digests.json, or against the registry's list for a version that is not in that file. Then the
compiler must report the requested version: npm's solc 0.8.1 is 0.8.0, and its 0.8.7 is 0.7.5 (see
0.8.7-fixed).
"""

import base64
import hashlib
import json
import logging
import re
import shutil
import socket
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from scan.verification.compiler_releases import SolcVersion, dotted, parse_version
from scan.verification.compiler_run import stated_version
from scan.verification.installed_compilers import InstalledCompilers, record_digest, sha256
from scan.verification.sandbox import Program, end_session, start

log = logging.getLogger(__name__)

NATIVE_TIMEOUT_S = 120.0
NPM_TIMEOUT_S = 120.0
PROBE_TIMEOUT_S = 3.0

_PUBLISHER = "binaries.soliditylang.org"
_WRAPPER = Path(__file__).with_name("solc.js")
_NPM_DIGESTS = Path(__file__).with_name("npm_digests.json")
_NOT_PUBLISHED = re.compile(r"E404|No match(ing version)? found|ETARGET")


class NotFetched(Exception):
    """A compiler could not be downloaded from one source; the message is the reason."""


class NotPublished(NotFetched):
    """The source has no such version."""


def install(version: SolcVersion, compilers: InstalledCompilers) -> str:
    """Install the compiler and return the name of its source. Raises NotFetched, NotPublished."""
    directory = compilers.directory
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".placing-", dir=directory) as staging:
        source, folder = _fetch(version, Path(staging), compilers.path)
        target = directory / folder.name
        if target.exists():
            shutil.rmtree(target)
        folder.rename(target)  # within one file system, hence all or nothing
    return source


def _fetch(version: SolcVersion, staging: Path, path: str) -> tuple[str, Path]:
    try:
        folder = _download_native(version, staging)
        _check_version(version, folder, path)
        return "a native build", folder
    except NotFetched as error:
        log.info("no native solc %s: %s", dotted(version), error)
    return "npm", _from_npm(version, staging, path)


def _download_native(version: SolcVersion, staging: Path) -> Path:
    """Download a native build and return its folder. solc-select checks SHA-256 and Keccak-256
    against the publisher's list.

    Without a connection it would retry for 30 s, so the connection is tried first.
    """
    program = _solc_select()
    _probe()
    name = f"solc-{dotted(version)}"
    command = ["env", f"VIRTUAL_ENV={staging}", program, "install", dotted(version)]
    _finish(command, staging, NATIVE_TIMEOUT_S)
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


def _from_npm(version: SolcVersion, staging: Path, path: str) -> Path:
    if not (shutil.which("npm") and shutil.which("node")):
        raise NotFetched("npm and node are not installed, and no native build can be fetched")
    fault = NotFetched("npm has no usable build")
    for npm_version in (dotted(version), f"{dotted(version)}-fixed"):
        try:
            folder = _unpack(version, _download_package(npm_version, staging), staging)
            _check_version(version, folder, path)
            return folder
        except NotFetched as error:
            fault = fault if isinstance(error, NotPublished) and "-fixed" in npm_version else error
    raise fault


def _download_package(version: str, staging: Path) -> Path:
    """Download the package's tarball, and check it against the pinned digest, or against the
    registry's if none is pinned."""
    package = f"solc@{version}"
    quiet = ["--json", "--loglevel=error"]
    listed = _finish(["npm", "view", package, "dist.integrity", *quiet], staging, NPM_TIMEOUT_S)
    try:
        expected = json.loads(_NPM_DIGESTS.read_text()).get(version) or json.loads(listed)
    except ValueError:
        raise NotPublished("npm has no such version") from None
    target = ["--pack-destination", str(staging), "--ignore-scripts"]
    _finish(["npm", "pack", package, *quiet, *target], staging, NPM_TIMEOUT_S)
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
        try:
            soljson = package.extractfile("package/soljson.js")
        except KeyError:
            soljson = None
        if soljson is None:
            raise NotFetched("npm's package contains no soljson.js")
        with (folder / "soljson.js").open("wb") as target:
            shutil.copyfileobj(soljson, target)
    shutil.copyfile(_WRAPPER, folder / name)
    (folder / name).chmod(0o755)
    record_digest(folder, "soljson.js")
    return folder


def _check_version(version: SolcVersion, folder: Path, path: str) -> None:
    reported = stated_version(Program(folder / folder.name, path))
    if reported != dotted(version):
        raise NotFetched(f"the published build reports version {reported or 'nothing'}")


def _finish(command: Sequence[str], folder: Path, timeout_s: float) -> str:
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
    names = json.loads(_NPM_DIGESTS.read_text())
    return sorted({parse_version(name.removesuffix("-fixed")) for name in names})


def install_one(compilers: InstalledCompilers, version: SolcVersion) -> str:
    """Install a compiler for `scan solc install`, and return the line to print, with the compiler's
    source and digest."""
    is_installed = compilers.find(version) is not None
    source = "already installed" if is_installed else f"from {install(version, compilers)}"
    compiler = compilers.find(version)
    if compiler is None:
        raise NotFetched("it was installed, but cannot be executed")
    soljson = compiler.executable.with_name("soljson.js")
    digest = sha256(soljson if soljson.is_file() else compiler.executable)
    return f"solc {dotted(version)} {source}, sha256 {digest}"
