"""The registry of extensions: capabilities in folders of scan/extensions/ that can be taken away.

The core knows no extension by name: it asks here for the parts that they bring. The package of an
extension declares it as EXTENSION. Its parts are modules and folders of standard names, in its
folder or in folders in it, and a part is imported when it is first needed. A part is a module that
binds HOOKS to an object of its type, a Part, or to several: what serves stands in one api.py, or
with pages in one views.py, which only processes that serve import. The types stand in settings.py
and in hooks.py of the rooms that read them, and of extensions that have hooks for others. The type
checker holds whoever brings a hook, and whoever reads one, to the hook's type.

`SCAN_EXTENSIONS` chooses among the folders. An extension that is off keeps its tables, so that the
schema is the same and forks are taken back in them, too; but it writes no rows and serves nothing.
"""

import os
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, cast, dataclass_transform

from scan.errors import SettingError
from scan.parameters import meant

FOLDER = Path(__file__).parent / "extensions"
PACKAGE = "scan.extensions"
VARIABLE = "SCAN_EXTENSIONS"
ALL, NONE = "all", "none"
_UNKNOWN_HOOK = re.compile(r"unexpected keyword argument '(\w+)'")
_Part = TypeVar("_Part", bound="Part")
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
RIGHT = "all, none, or names of extensions, separated by commas"


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Part:
    """The hooks of a part, a field each of a class derived from this one, which is a frozen
    dataclass; `module` names the module that has them, or `chapter` the one that has them with
    other parts."""

    module: ClassVar[str]
    chapter: ClassVar[str]

    def __init_subclass__(cls, *, module: str, chapter: str = "") -> None:
        super().__init_subclass__()
        cls.module, cls.chapter = module, chapter
        dataclass(frozen=True, kw_only=True)(cls)


Group = Literal["chain data", "contracts", "compatible interfaces", "operating", "comfort"]


class Extension(NamedTuple):
    """An extension: what it adds in a line, the group in which docs/settings.md lists it, and the
    names of the extensions that it imports.

    `paths` are those that it serves outside /api, as reserved_paths() has them; `commands` are its
    subcommands of `scan`, each with its line in the help.
    """

    adds: str
    group: Group
    needs: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    commands: Mapping[str, str] = {}


@cache
def installed() -> Mapping[str, Extension]:
    """Return the extensions whose folders are there, by name, those that others need first. Raises
    SettingError where one needs another that is not there."""
    names = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
    declared = {name: import_module(f"{PACKAGE}.{name}").EXTENSION for name in names}
    ordered: dict[str, Extension] = {}

    def add(name: str) -> None:
        for needed in declared[name].needs if name not in ordered else ():
            if needed not in declared:
                reason = f"the extension {name} needs {needed}, whose folder is missing"
                raise SettingError(VARIABLE, os.environ.get(VARIABLE, ""), reason)
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
            advice = meant(name, installed(), f"there are {', '.join(sorted(installed()))}")
            reason = f"no extension is called {name}; {advice}"
            if name in ("", ALL, NONE):
                reason = f"{name} stands alone" if name else "a name is empty"
            raise SettingError(VARIABLE, text, f"must be {RIGHT}: {reason}")
    return {*names}


def by_extension(
    contract: type[_Part], *, of_installed: bool = False
) -> Sequence[tuple[str, _Part]]:
    """Return the hooks of a part that the enabled extensions have, or all installed ones, each with
    the name of the extension. Raises SettingError where a module breaks its part's contract."""
    return _declared_parts(cast(Hashable, contract), of_installed)


def parts(contract: type[_Part], *, of_installed: bool = False) -> list[_Part]:
    """Return the hooks of a part, as by_extension() does."""
    return [part for _, part in _declared_parts(cast(Hashable, contract), of_installed)]


def only(contract: type[_Part]) -> _Part | None:
    """Return the hooks of a part that one extension at most has; None where none has it."""
    return next(iter(parts(contract)), None)


def merged(mappings: Iterable[Mapping[_Key, _Value]]) -> dict[_Key, _Value]:
    """Return one mapping of several."""
    return {key: value for mapping in mappings for key, value in mapping.items()}


def has(module: str) -> bool:
    """Return whether an enabled extension has a part, by the name of its module, without importing
    it."""
    return any(_modules(name, module) for name in enabled())


@cache  # which loses the type of what it returns
def _declared_parts(contract: Any, of_installed: bool) -> Sequence[tuple[str, Any]]:
    files = [file for file in (contract.module, contract.chapter) if file]
    read: list[tuple[str, Any]] = []
    for name in installed() if of_installed else enabled():
        for module in [module for file in files for module in _modules(name, file)]:
            read += [(name, hooks) for hooks in _hooks(module, contract)]
    return read


def _hooks(module: str, contract: type[_Part]) -> Sequence[_Part]:
    """Return the objects of a part's type to which a module binds HOOKS: one, or a tuple of parts
    that have this module in common."""
    try:
        hooks = getattr(import_module(module), "HOOKS", None)
    except TypeError as error:
        if not str(error).startswith(f"{contract.__name__}.__init__() "):
            raise
        reason = str(error).partition(" ")[2]
        if unknown := _UNKNOWN_HOOK.search(str(error)):
            advice = meant(unknown[1], [field.name for field in fields(cast(Any, contract))], "")
            reason = f"it has no hook {unknown[1]}{advice and f'; {advice}'}"
        raise _broken(module, reason) from error
    several = hooks if isinstance(hooks, tuple) else (hooks,)
    file = module.rpartition(".")[2]
    if not all(isinstance(one, Part) and file in (one.module, one.chapter) for one in several):
        raise _broken(module, f"HOOKS is no {contract.__name__}")
    return [one for one in several if isinstance(one, contract)]


def _broken(module: str, reason: str) -> SettingError:
    _, _, extension, *names = module.split(".")
    reason = f"{'/'.join(names)}.py of the extension {extension} is wrong: {reason}"
    return SettingError(VARIABLE, os.environ.get(VARIABLE, ""), reason)


def folders(name: str, *, of_enabled: bool = False) -> list[Path]:
    """Return the folders or files of a name in those of the installed extensions, or of the
    enabled ones."""
    extensions = enabled() if of_enabled else installed()
    return [path for extension in extensions for path in _paths(extension, name)]


def extension_of(path: Path) -> str:
    """Return the name of the extension that has a file."""
    return path.relative_to(FOLDER).parts[0]


def reserved_paths() -> frozenset[str]:
    """Return the first names of the paths of all installed extensions, with a slash at the end
    where further names may follow."""
    return frozenset(path for extension in installed().values() for path in extension.paths)


def commands() -> dict[str, tuple[str, str]]:
    """Return the subcommands of the enabled extensions by name, each with its line in the help and
    the path of the function that declares its options."""
    return {
        name: (text, f"{module}:add_arguments")
        for extension in enabled()
        for name, text in installed()[extension].commands.items()
        for module in _modules(extension, f"{name.replace('-', '_')}_command")
    }


def off(what: str, extension: str) -> SettingError:
    """Return the error for a part of an extension that is off."""
    reason = f"{what} is of the extension {extension}, which is off"
    return SettingError(VARIABLE, os.environ.get(VARIABLE, ""), reason)


@cache
def _modules(extension: str, name: str) -> Sequence[str]:
    """Return the modules of a name in the folder of an extension, and in the folders in it."""
    relative = [path.relative_to(FOLDER) for path in _paths(extension, f"{name}.py")]
    return [".".join((PACKAGE, *path.with_suffix("").parts)) for path in relative]


def _paths(extension: str, name: str) -> Sequence[Path]:
    folder = FOLDER / extension
    paths = (folder / name, *sorted(folder.glob(f"*/{name}")))
    return [path for path in paths if path.exists() and path.parent.name != "tests"]
