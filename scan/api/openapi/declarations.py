"""What openapi.toml of the core and of extensions declares, merged, with values of constants."""

import re
import tomllib
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from scan import api, registry

Json = dict[str, Any]

FOLDER = Path(api.__file__).with_name("openapi")  # of the core
FILES = ("shared", "chain", "records", "contracts", "keys_and_webhooks", "service")
SECTIONS = frozenset(
    """
    info tags paths operations parameters filters webhooks records added schemas responses headers
    errors errors_with security csv
    """.split()
)
# A constant of the code, such as {scan.parameters.MAX_LIMIT}; with :, its thousands are separated.
_CONSTANT = re.compile(r"\{(scan\.[\w.]+)(:,)?\}")


@cache
def declared(section: str) -> Json:
    """Return a section of all files by name. Extensions add entries, and fields of `added`, but
    replace none: raises LookupError, also for a file with a section that nothing reads."""
    merged: Json = {}
    for file in _files():
        for name, value in file.get(section, {}).items():
            if section == "added":
                value = merged.pop(name, {}) | value
            if name in merged:
                raise LookupError(f"[{section}] of openapi.toml has {name} twice")
            merged[name] = value
    return merged


@cache
def _files() -> list[Json]:
    own = [FOLDER / f"{name}.toml" for name in FILES]
    paths = [*own, *registry.folders("openapi.toml", of_enabled=True)]
    files = [_with_constants(tomllib.loads(path.read_text(encoding="utf-8"))) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if unknown := file.keys() - SECTIONS:
            raise LookupError(f"{path} has unknown sections: {sorted(unknown)}")
    return files


def _with_constants(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_constants(below) for key, below in value.items()}
    if isinstance(value, list):
        return [_with_constants(below) for below in value]
    if not isinstance(value, str):
        return value
    if whole := _CONSTANT.fullmatch(value):
        return resolve_name(whole[1])
    return _CONSTANT.sub(lambda name: _in_text(resolve_name(name[1]), name[2]), value)


def _in_text(value: Any, separator: str | None) -> str:
    if isinstance(value, str | int):
        return format(value, "," if separator else "")
    return ", ".join(map(str, value))
