"""Solidity compilers on disk, in solc-select's layout: `solc-0.8.26/solc-0.8.26` in one folder."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from scan.errors import InvalidParameter, Unavailable
from scan.settings import Settings, solc_select_folder
from scan.verification.compiler_releases import SolcVersion, dotted, parse_version
from scan.verification.sandbox import Program

_DIGEST_FILE = "SHA256"


class InstalledCompilers:
    """The compilers in one directory; downloaded ones are checked before they run."""

    def __init__(self, settings: Settings) -> None:
        self.directory = settings.solc_dir or solc_select_folder()
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


def sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def record_digest(folder: Path, name: str) -> None:
    """Write the file's digest in sha256sum's format, so that operators can check it by that."""
    (folder / _DIGEST_FILE).write_text(f"{sha256(folder / name)}  {name}\n")
