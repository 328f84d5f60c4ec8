"""A verified contract's sources as files: standard JSON, or a ZIP archive with safe paths."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import orjson

from scan.errors import NotFound
from scan.queries import contracts
from scan.queries.contracts import Contract, language_of, libraries_by_file
from scan.queries.reader import Reader
from scan.verification.languages import standard_input as input_of

STANDARD_INPUT = "standard-input.json"
MAX_PATH = 200
MAX_PART = 100
TIME = (1980, 1, 1, 0, 0, 0)  # of all files, so that equal sources make equal archives

# Characters that Windows takes for a drive or a stream, control characters, changes of direction.
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>:\"|?*\u202a-\u202e\u2066-\u2069]")
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.I)


def get(reader: Reader, address: bytes) -> Contract:
    """Return a verified contract with its sources and settings; raises NotFound."""
    reader.do_not_cache()  # large ones would evict everything else
    contract, _ = contracts.get_with_proxy(reader, address, {"sources", "settings"})
    if not contract.is_verified:
        raise NotFound(contract.not_verified, field="address")
    return contract


def standard_input(contract: Contract) -> bytes:
    """Return the compiler's standard JSON input; its settings are those of the metadata."""
    settings: dict[str, Any] = json.loads(contract.settings or "{}")
    libraries = settings.get("libraries")
    if isinstance(libraries, dict):
        settings["libraries"] = libraries_by_file(libraries)
    sources = orjson.Fragment(contract.sources or "{}")
    return orjson.dumps(input_of(language_of(contract), sources, settings))


def archive(contract: Contract) -> bytes:
    """Return a ZIP archive of the sources by safe paths, and of the standard JSON input."""
    content = io.BytesIO()
    sources = json.loads(contract.sources or "{}")
    folders = {folder for path in sources for folder in _folders(safe_path(path))}
    names = {STANDARD_INPUT, *folders}
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(zipfile.ZipInfo(STANDARD_INPUT, TIME), standard_input(contract))
        for path, source in sources.items():
            name = _unused(safe_path(path), names)
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            file.writestr(entry, str(source["content"]))
    return content.getvalue()


def safe_path(path: str) -> str:
    """Return a relative path that stays below the folder it is unpacked in, on any system."""
    segments = [_safe_part(part) for part in re.split(r"[/\\]", path) if part not in ("", ".")]
    safe = "/".join(segments)[-MAX_PATH:].lstrip("/") or "source"
    return f"_{safe}" if safe.casefold().startswith(f"{STANDARD_INPUT}/") else safe


def _folders(path: str) -> Iterator[str]:
    """Return the folders of a path, in lower case; no file may have such a name."""
    segments = path.casefold().split("/")
    return ("/".join(segments[:length]) for length in range(1, len(segments)))


def _safe_part(part: str) -> str:
    clean = _UNSAFE.sub("_", part.encode("utf-8", "replace").decode())[:MAX_PART].rstrip(" .")
    return f"_{clean}" if not clean or _DEVICE.fullmatch(clean) else clean


def _unused(name: str, names: set[str]) -> str:
    """Return a name that no file or folder has, not even in another letter case, which some file
    systems ignore, and add it to `names`."""
    stem, dot, suffix = name.rpartition(".")
    stem, suffix = (stem, dot + suffix) if stem else (name, "")
    number, unused = 1, name
    while unused.casefold() in names:
        number += 1
        unused = f"{stem}_{number}{suffix}"
    names.add(unused.casefold())
    return unused
