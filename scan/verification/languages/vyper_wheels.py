"""Vyper's compilers: wheels of PyPI, by pip in a folder a version, run by vyper_script.py.

Every wheel is checked against a digest that is pinned here: the compiler's in vyper_digests.json,
its dependencies' in vyper_dependencies.txt, one list for all releases. The publisher's binaries
serve, too, where an operator puts them: `vyper-0.3.10/vyper-0.3.10`, executable.
"""

import json
import re
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from scan.errors import InvalidParameter
from scan.verification.compiler_releases import SolcVersion, dotted
from scan.verification.compiler_store import (
    CompilerKind,
    NotFetched,
    NotPublished,
    check_version,
    finish,
    record_digest,
)

TIMEOUT_S = 240.0

_DIGESTS = Path(__file__).with_name("vyper_digests.json")
_DEPENDENCIES = Path(__file__).with_name("vyper_dependencies.txt")
_SCRIPT = Path(__file__).with_name("vyper_script.py")
_VERSION = re.compile(
    r"(?:vyper:)?v?([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{1,3})(\+commit\.[0-9a-f]{6,40})?"
)
_FIRST_RELEASE = (0, 2, 8)


def parse_version(version: object) -> SolcVersion:
    """Return (0, 3, 10) for `0.3.10`, `v0.3.10+commit.9136169` or `vyper:0.3.10`. Raises
    InvalidParameter."""
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    if not match:
        raise InvalidParameter(
            "compilerVersion must look like 0.3.10, v0.3.10 or vyper:0.3.10.",
            field="compilerVersion",
        )
    parsed = (int(match[1]), int(match[2]), int(match[3]))
    if not _FIRST_RELEASE <= parsed < (1, 0, 0):
        raise InvalidParameter(
            f"compilerVersion must be {dotted(_FIRST_RELEASE)} or newer.", field="compilerVersion"
        )
    return parsed


def known_releases() -> list[SolcVersion]:
    return sorted(map(parse_version, json.loads(_DIGESTS.read_text())))


def _fetch(version: SolcVersion, staging: Path, path: str) -> tuple[str, Path]:
    """Install a release and return its source's name and its folder. pip would refuse most: old
    releases exclude Python 3.11, on which they run."""
    digest = json.loads(_DIGESTS.read_text()).get(dotted(version))
    if digest is None:
        raise NotPublished("no digest of it is pinned")
    if find_spec("pip") is None:
        raise NotFetched("pip is not installed")
    folder = staging / f"vyper-{dotted(version)}"
    folder.mkdir()
    requirements = staging / "requirements.txt"
    requirement = f"vyper=={dotted(version)} --hash=sha256:{digest}\n"
    requirements.write_text(_DEPENDENCIES.read_text() + requirement)
    options = [
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        "--retries=1",
        "--no-deps",
        "--require-hashes",
        "--only-binary=:all:",
        "--ignore-requires-python",
        f"--target={folder / 'packages'}",
        f"--requirement={requirements}",
    ]
    finish([sys.executable, "-m", "pip", "install", *options], staging, TIMEOUT_S)
    _place_script(folder)
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    record_digest(folder, *(str(file.relative_to(folder)) for file in files))
    check_version(version, folder, path)
    return "PyPI", folder


def _place_script(folder: Path) -> None:
    """Write the executable, which begins with the Python that has the compiler's packages: their
    binary parts are of its version."""
    shutil.rmtree(folder / "packages" / "bin", ignore_errors=True)
    executable = folder / folder.name
    executable.write_text(f"#!{sys.executable} -IBS\n{_SCRIPT.read_text()}")
    executable.chmod(0o755)


VYPER_COMPILER = CompilerKind("vyper", "Vyper", parse_version, known_releases, _fetch)
