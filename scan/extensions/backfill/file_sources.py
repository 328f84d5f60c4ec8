"""Where files come from: folders of this machine, and folders of a web server. Each may have
checksums.txt, the SHA-256 of each file as sha256sum writes it.

A file from the web is written to a folder of downloads, from where an interrupted download goes on.
"""

import fcntl
import hashlib
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import urljoin

from scan.ethereum.client import NodeError
from scan.extensions.backfill import e2store
from scan.outbound import http_client
from scan.outbound.allowed_urls import Purpose
from scan.setting_kinds import without_password

log = logging.getLogger(__name__)

CHECKSUMS = "checksums.txt"
MAX_LIST_BYTES = 8 << 20  # of the list of files, which mainnet's has 3,000 of
MAX_LINES = 100_000
TOO_LONG = f"a list of files has more than {MAX_LIST_BYTES:,} bytes"
# Of a file, whose next request goes on where this one was ended.
TIMEOUTS = http_client.AttemptTimeouts(total_s=3600.0, connect_s=10.0, silent_s=60.0)
OK, PARTIAL, NOT_FOUND, RANGE_NOT_SATISFIABLE = 200, 206, 404, 416
_is_digest = re.compile(r"[0-9a-fA-F]{64}").fullmatch
_LINKED = re.compile(r"""href=["']?(?:[^"'>\s]*/)?([A-Za-z0-9_.-]+\.(?:era1|erae|ere))["'\s>]""")


class SourceFailed(NodeError):
    """A source does not answer now; it is tried again, as a node is."""


class HistoryFile(NamedTuple):
    """A file of a source, a folder or an URL. `digest` is its SHA-256 in hex, "" where it is not
    listed."""

    source: str
    name: e2store.FileName
    digest: str = ""

    def __str__(self) -> str:
        return f"{self.name.text} of {without_password(self.source)}"


def is_url(source: str) -> bool:
    return source.startswith(("http://", "https://"))


def list_files(source: str, ca_bundle: str = "") -> list[HistoryFile]:
    """Return the files of a source, by their names. Raises SourceFailed; BadFile where the source
    is no folder, or its list is malformed."""
    if not is_url(source):
        return _in_folder(Path(source))
    listed = _get_text(source, CHECKSUMS, ca_bundle)
    digests = _digests(listed or "")
    if digests and all(digests):
        return _named(source, digests)
    page = _get_text(source, "", ca_bundle) or ""
    names = sorted(set(_LINKED.findall(page)))
    lines = (listed or "").split()
    if lines and len(lines) == len(names):  # without names: by the order of files
        return _named(source, dict(zip(names, lines, strict=True)))
    return _named(source, dict.fromkeys(names, ""))


def _in_folder(folder: Path) -> list[HistoryFile]:
    if not folder.is_dir():
        raise e2store.BadFile(f"{folder} is no folder")
    names = sorted(path.name for path in folder.iterdir())
    digests: Mapping[str, str] = {}
    if CHECKSUMS in names:
        with (folder / CHECKSUMS).open("rb") as file:
            digests = _digests(_decoded(file.read(MAX_LIST_BYTES + 1)))
    return _named(str(folder), {name: digests.get(name, "") for name in names})


def _named(source: str, digests: Mapping[str, str]) -> list[HistoryFile]:
    files = ((e2store.parse_name(name), digest) for name, digest in digests.items())
    return [HistoryFile(source, name, digest.lower()) for name, digest in files if name]


def _digests(text: str) -> dict[str, str]:
    """Return the digests of a list by the names of files. Lines of another form are left out."""
    lines = (line.split() for line in text.splitlines()[:MAX_LINES])
    pairs = (line for line in lines if len(line) == 2 and _is_digest(line[0]))
    return {name.removeprefix("*"): digest for digest, name in pairs}


def _get_text(source: str, path: str, ca_bundle: str) -> str | None:
    """Return a text of a web server; None where it has no such path."""
    with _request(source, path, ca_bundle) as response:
        if response.status == NOT_FOUND:
            return None
        _require_status(source, response, OK)
        try:
            return _decoded(response.read(MAX_LIST_BYTES))
        except http_client.TooLarge:
            raise e2store.BadFile(TOO_LONG) from None


def _decoded(content: bytes) -> str:
    if len(content) > MAX_LIST_BYTES:
        raise e2store.BadFile(TOO_LONG)
    return content.decode("ascii", errors="replace")


@contextmanager
def _request(
    source: str, path: str, ca_bundle: str, range_: str = ""
) -> Iterator[http_client.Response]:
    """Send a request to a source. Raises SourceFailed, whose text has no secret of the URL."""
    url = urljoin(source.rstrip("/") + "/", path)
    context, headers = http_client.tls_context(ca_bundle), {"Range": range_} if range_ else {}
    client = http_client.HttpClient(context, TIMEOUTS, Purpose.OPERATOR)
    try:
        with client.open(url, headers=headers, redirects=http_client.MAX_REDIRECTS) as response:
            yield response
    except http_client.NotFetched as error:
        raise SourceFailed(f"{without_password(source)} cannot be read: {error}") from None


def _require_status(source: str, response: http_client.Response, *statuses: int) -> None:
    if response.status not in statuses:
        origin = without_password(source)
        raise SourceFailed(f"{origin} answers with status {response.status}")


class FileStore:
    """The files of a run, in the folder where they are downloaded to. Processes share it."""

    def __init__(
        self, folder: Path, ca_bundle: str = "", max_file_bytes: int = e2store.MAX_FILE_BYTES
    ) -> None:
        self._folder, self._max_file_bytes = folder, max_file_bytes
        self._ca_bundle = ca_bundle

    def fetch(self, file: HistoryFile) -> Path:
        """Return the path of a whole file, which is downloaded and checked the first time.

        Raises BadFile, SourceFailed, OSError.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._locked(file):
            if (reason := self.refusal(file)) is not None:
                raise e2store.BadFile(reason)
            if is_url(file.source):
                return self._download(file)
            path = Path(file.source) / file.name.text
            checked = self._beside(file, "checked")
            if file.digest and not checked.exists():
                with path.open("rb") as content:
                    _require_digest(content, file.digest)
                checked.touch()
            return path

    def refuse(self, file: HistoryFile, reason: str) -> None:
        """Never take this file again in this run."""
        log.warning("%s: %s", file, reason)
        self._beside(file, "refused").write_text(reason)
        self.remove(file)

    def refusal(self, file: HistoryFile) -> str | None:
        """Return why a file was refused; None if it was not."""
        path = self._beside(file, "refused")
        return path.read_text() if path.exists() else None

    def remove(self, file: HistoryFile) -> None:
        """Delete a file if it was downloaded."""
        if is_url(file.source):
            self._beside(file, "e2store").unlink(missing_ok=True)

    def forget_refusals(self) -> None:
        """Begin a run, which tries refused files again."""
        for path in (*self._folder.glob("*.refused"), *self._folder.glob("*.checked")):
            path.unlink(missing_ok=True)

    def size(self, file: HistoryFile) -> int:
        """Return a file's bytes, 0 where the source does not say them. Raises SourceFailed."""
        if not is_url(file.source):
            return (Path(file.source) / file.name.text).stat().st_size
        with _request(file.source, file.name.text, self._ca_bundle, "bytes=0-0") as response:
            size = response.headers.get("Content-Range", "").rpartition("/")[2]
            return int(size) if size.isascii() and size.isdecimal() else 0

    def _download(self, file: HistoryFile) -> Path:
        path = self._beside(file, "e2store")
        if path.exists():
            return path
        part = self._beside(file, "part")
        with part.open("ab") as content:
            self._append_rest(file, content)
        with part.open("rb") as content:
            try:
                if file.digest:
                    _require_digest(content, file.digest)
            except e2store.BadFile:
                part.unlink()
                raise
        return part.rename(path)

    def _append_rest(self, file: HistoryFile, part: IO[bytes]) -> None:
        """Append what is missing of a file."""
        start = part.tell()
        range_ = f"bytes={start}-" if start else ""
        with _request(file.source, file.name.text, self._ca_bundle, range_) as response:
            if response.status == NOT_FOUND:
                raise e2store.BadFile("the source does not have it")
            if response.status == RANGE_NOT_SATISFIABLE:
                return  # it is whole
            _require_status(file.source, response, OK, PARTIAL)
            if response.status == OK:
                part.truncate(0)
            for piece in response.pieces():
                part.write(piece)
                if part.tell() > self._max_file_bytes:
                    part.truncate(0)
                    raise e2store.BadFile(f"it has more than {self._max_file_bytes:,} bytes")

    def _beside(self, file: HistoryFile, suffix: str) -> Path:
        source = hashlib.sha256(file.source.encode()).hexdigest()[:8]
        return self._folder / f"{file.name.text}.{source}.{suffix}"

    @contextmanager
    def _locked(self, file: HistoryFile) -> Iterator[None]:
        """Hold a file's lock, which ends with the process."""
        with self._beside(file, "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def _require_digest(content: BufferedReader, digest: str) -> None:
    if hashlib.file_digest(content, "sha256").hexdigest() != digest:
        raise e2store.BadFile(f"its SHA-256 is not the one that {CHECKSUMS} has")
