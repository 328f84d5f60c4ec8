"""Solidity compilers on disk, in solc-select's layout: `solc-0.8.26/solc-0.8.26` in one folder."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from scan import registry
from scan.errors import InvalidParameter, Unavailable
from scan.settings import Settings
from scan.verification.compiler_releases import SolcVersion, dotted, parse_version
from scan.verification.sandbox import Program

_DIGEST_FILE = "SHA256"


class InstalledCompilers:
    """The compilers in one directory; downloaded ones are checked before they run."""

    def __init__(self, settings: Settings) -> None:
        self.directory = settings.solc_dir or _solc_select_directory()
        self.path = settings.path
        self._checked: dict[Path, tuple[int, int]] = {}

    def versions(self) -> list[SolcVersion]:
        return sorted(version for version in self.placed() if self.find(version))

    def placed(self) -> set[SolcVersion]:
        """Return the releases that have a folder, without checking their digests."""
        versions = set()
        for folder in self.directory.glob("solc-*"):
            with suppress(InvalidParameter):
                versions.add(parse_version(folder.name.removeprefix("solc-")))
        return versions

    def releases(self) -> dict[SolcVersion, bool]:
        """Return the releases that a request may name, newest first, with whether each is
        installed."""
        return dict.fromkeys(sorted(self.placed(), reverse=True), True)

    def compiler(self, version: SolcVersion, wait_s: float = 0.0) -> Program:
        """Return the compiler. Raises Unavailable where it is missing; an extension may have it
        within `wait_s`, and raises InvalidParameter where there is no such release."""
        compiler = self.find(version)
        if compiler is None:
            message = f"The compiler {dotted(version)} is not installed on this server."
            raise Unavailable(message, retry_after_s=300)
        return compiler

    def find(self, version: SolcVersion) -> Program | None:
        """Return the compiler, None if it is not installed. Raises Unavailable if it has changed
        since its download."""
        name = f"solc-{dotted(version)}"
        executable = self.directory / name / name
        if not os.access(executable, os.X_OK) or not executable.is_file():
            return None
        self._check_digest(executable.parent)
        return Program(executable, self.path)

    def _check_digest(self, folder: Path) -> None:
        """Raise Unavailable unless a downloaded compiler has the digest of its download."""
        recorded = folder / _DIGEST_FILE
        if not recorded.is_file():
            return
        digest, name = recorded.read_text().split()
        status = (folder / name).stat()
        state = (status.st_mtime_ns, status.st_size)
        if self._checked.get(folder) == state:
            return
        if sha256(folder / name) != digest:
            raise Unavailable(f"The compiler in {folder.name} is damaged; install it again.")
        self._checked[folder] = state


def make_compilers(settings: Settings) -> InstalledCompilers:
    for make in registry.values("compilers", "compilers"):
        compilers: InstalledCompilers = make(settings)
        return compilers
    return InstalledCompilers(settings)


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def record_digest(folder: Path, name: str) -> None:
    """Write the file's digest in sha256sum's format, so that operators can check it by that."""
    (folder / _DIGEST_FILE).write_text(f"{sha256(folder / name)}  {name}\n")


def _solc_select_directory() -> Path:
    from solc_select.constants import ARTIFACTS_DIR  # reads the environment at import

    return Path(ARTIFACTS_DIR)
