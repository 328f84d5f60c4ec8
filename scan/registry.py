"""The registry of extensions: capabilities in folders of scan/extensions/ that can be taken away.

The core knows no extension by name: it asks here for the parts that they bring. The package of an
extension declares it as EXTENSION. Its parts are modules (or packages) and folders of standard
names, which scan/extensions/__init__.py lists, and a part is imported when it is first needed.

`SCAN_EXTENSIONS` chooses among the folders. An extension that is off keeps its tables, so that the
schema is the same and forks are taken back in them, too; but it writes no rows and serves nothing.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from scan.errors import SettingError
from scan.parameters import nearest

FOLDER = Path(__file__).parent / "extensions"
VARIABLE = "SCAN_EXTENSIONS"
ALL, NONE = "all", "none"
RIGHT = "all, none, or names of extensions, separated by commas"


class Extension(NamedTuple):
    """An extension: what it adds in a line, and the names of the extensions that it imports.

    `paths` are those that it serves outside /api, as reserved_paths() has them; `commands` are its
    subcommands of `scan`, each with its line in the help.
    """

    adds: str
    needs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    commands: Mapping[str, str] = {}


@cache
def installed() -> Mapping[str, Extension]:
    """Return the extensions whose folders are there, by name, those that others need first."""
    names = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
    declared = {name: import_module(_module(name)).EXTENSION for name in names}
    ordered: dict[str, Extension] = {}

    def add(name: str) -> None:
        for needed in declared[name].needs if name not in ordered else ():
            add(needed)
        ordered.setdefault(name, declared[name])

    for name in names:
        add(name)
    return ordered


@cache
def enabled() -> Collection[str]:
    """Return the names of the extensions that are on, with those that they need. Raises
    SettingError as chosen() does."""
    names = chosen(os.environ)
    for name in reversed([*installed()]):
        names |= {*installed()[name].needs} if name in names else set()
    return tuple(name for name in installed() if name in names)


def chosen(environ: Mapping[str, str]) -> set[str]:
    """Return the names of the extensions that SCAN_EXTENSIONS names, without those that these need.
    Raises SettingError for a name without a folder."""
    text = environ.get(VARIABLE, "").strip() or ALL
    if text in (ALL, NONE):
        return {*installed()} if text == ALL else set()
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in installed():
            raise SettingError(VARIABLE, text, f"must be {RIGHT}: {_unknown(name)}")
    return {*names}


def _unknown(name: str) -> str:
    if name in ("", ALL, NONE):
        return f"{name} stands alone" if name else "a name is empty"
    similar = nearest(name, installed())
    advice = (
        f"did you mean {similar}?" if similar else f"there are {', '.join(sorted(installed()))}"
    )
    return f"no extension is called {name}; {advice}"


@cache
def parts(part: str, *, of_installed: bool = False) -> list[Any]:
    """Return the modules of a name that the enabled extensions have, or all installed ones."""
    names = installed() if of_installed else enabled()
    return [import_module(_module(name, part)) for name in names if _has(name, part)]


def merged(part: str, name: str, *, of_installed: bool = False) -> dict[Any, Any]:
    """Return one mapping of those that the modules of a part have as `name`, if they do."""
    modules = parts(part, of_installed=of_installed)
    mappings: Iterable[Mapping[Any, Any]] = (getattr(module, name, {}) for module in modules)
    return {key: value for mapping in mappings for key, value in mapping.items()}


def collected(part: str, name: str) -> list[Any]:
    """Return one list of the sequences that the modules of a part have as `name`, if they do."""
    return [value for module in parts(part) for value in getattr(module, name, ())]


def values(part: str, name: str) -> list[Any]:
    """Return what the modules of a part have as `name`, of those that have it."""
    return [getattr(module, name) for module in parts(part) if hasattr(module, name)]


def first(part: str, name: str) -> Any | None:
    """Return what the first module of a part has as `name`; None where none has it."""
    return next(iter(values(part, name)), None)


def has(part: str) -> bool:
    """Return whether an enabled extension has a part, without importing it."""
    return any(_has(name, part) for name in enabled())


def folders(name: str, *, of_enabled: bool = False) -> list[Path]:
    """Return the folders or files of a name in those of the installed extensions, or of the
    enabled ones."""
    paths = [FOLDER / extension / name for extension in (enabled() if of_enabled else installed())]
    return [path for path in paths if path.exists()]


def reserved_paths() -> frozenset[str]:
    """Return the first names of the paths of all installed extensions, with a slash at the end
    where further names may follow."""
    return frozenset(path for extension in installed().values() for path in extension.paths)


def commands() -> dict[str, tuple[str, str]]:
    """Return the subcommands of the enabled extensions by name, each with its line in the help and
    its module."""
    return {
        name: (text, _module(extension, f"{name.replace('-', '_')}_command"))
        for extension in enabled()
        for name, text in installed()[extension].commands.items()
    }


def off(what: str, extension: str) -> SettingError:
    """Return the error for a part of an extension that is off."""
    reason = f"{what} is of the extension {extension}, which is off"
    return SettingError(VARIABLE, os.environ.get(VARIABLE, ""), reason)


def _module(*names: str) -> str:
    return ".".join(("scan", "extensions", *names))


def _has(extension: str, part: str) -> bool:
    folder = FOLDER / extension
    return (folder / f"{part}.py").exists() or (folder / part / "__init__.py").exists()
