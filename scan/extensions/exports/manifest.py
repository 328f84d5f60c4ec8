"""The manifest of an export's folder: its chain, files, and ranges of blocks with their hashes."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import orjson

from scan.errors import ScanError
from scan.extensions.exports.whole_file import whole_file

FILE_NAME = "manifest.json"
VERSION = 1


@dataclass(frozen=True)
class ExportedFile:
    """A file of an export; `path` is relative to the folder."""

    path: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class ExportedRange:
    """A range of exported blocks, both ends included; hashes are hex, and `parent_hash` is the
    first block's."""

    block_from: int
    block_to: int
    parent_hash: str
    last_hash: str
    files: dict[str, ExportedFile]


@dataclass(frozen=True)
class ExportedTokens:
    """The exported tokens, as they were at a block."""

    block: int
    block_hash: str
    file: ExportedFile


@dataclass
class Manifest:
    """The content of an export's folder; `ranges` are consecutive, without gaps."""

    chain_id: str
    genesis_hash: str
    format: str
    tables: list[str]
    blocks_per_file: int
    block_from: int
    ranges: list[ExportedRange] = field(default_factory=list)
    tokens: ExportedTokens | None = None
    version: int = VERSION

    def _kind(self) -> tuple[object, ...]:
        """Return the values that an export must share with the folder's in order to continue it."""
        return (
            self.version,
            self.chain_id,
            self.genesis_hash,
            self.format,
            sorted(self.tables),
            self.blocks_per_file,
            self.block_from,
        )

    def continued(self, folder: Path) -> "Manifest":
        """Return the folder's manifest, or this one where there is none; raises ScanError where
        the folder holds another export."""
        earlier = read_manifest(folder)
        if earlier is not None and earlier._kind() != self._kind():
            raise ScanError(
                f"{folder} holds an export of other tables, blocks, format or chain: give another"
                " --output."
            )
        return earlier or self

    def next_block(self) -> int:
        return self.ranges[-1].block_to + 1 if self.ranges else self.block_from

    def files(self) -> list[ExportedFile]:
        files = [file for exported in self.ranges for file in exported.files.values()]
        return [*files, self.tokens.file] if self.tokens else files

    def write(self, folder: Path) -> None:
        with whole_file(folder / FILE_NAME) as file:
            file.write(orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))


def read_manifest(folder: Path) -> Manifest | None:
    """Return the folder's manifest, or None where there is none; raises ScanError where it cannot
    be read."""
    path = folder / FILE_NAME
    if not path.exists():
        return None
    try:
        values: dict[str, Any] = orjson.loads(path.read_bytes())
        ranges = values["ranges"]
        values["ranges"] = []
        for exported in ranges:
            files = {table: ExportedFile(**file) for table, file in exported["files"].items()}
            values["ranges"].append(ExportedRange(**{**exported, "files": files}))
        if values["tokens"] is not None:
            tokens = values["tokens"]
            values["tokens"] = ExportedTokens(**{**tokens, "file": ExportedFile(**tokens["file"])})
        return Manifest(**values)
    except (ValueError, KeyError, TypeError) as error:
        raise ScanError(f"{path} cannot be read: {error}") from None
