"""Fields of a record under other names, as tables of openapi.toml and of other forms write them,
and objects made by such tables.

`name = field` is a field's new name, which by default is its own in snake case. `name()` is a value
that something else computes, and `a.b` a field of an inner object. `as <format>` says how it is
shown, and `in <field>` which field has the decimals of a number. Constants and "text" stand for
themselves.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, NamedTuple

from scan.cached_values import cached_property
from scan.hex import to_hex

CONSTANTS = {"null": None, "true": True, "false": False, "0": 0, "[]": ()}
_WRITTEN = re.compile(r'(?:(\w+) = )?([\w.]+|\[\]|"\w*")(\(\))?(?: as (\w+)| in (\w+))?')


class RenamedField(NamedTuple):
    name: str
    source: str
    is_computed: bool
    format: str | None
    decimals: str | None


def _snake_case(name: str) -> str:
    return re.sub(r"(?=[A-Z])", "_", name).lower()


def camel_case(name: str) -> str:
    first, *rest = name.rpartition(".")[2].split("_")
    return "".join((first, *map(str.capitalize, rest)))


def renamed_field(written: str, default: Callable[[str], str] = _snake_case) -> RenamedField:
    """Return what is written, whose name is by default that of the source in some case; raises
    LookupError for anything else."""
    parsed = _WRITTEN.fullmatch(written)
    if parsed is None:
        raise LookupError(f"{written!r} is no renamed field: name = field as format")
    name, source, call, format_, decimals = parsed.groups()
    return RenamedField(name or default(source), source, bool(call), format_, decimals)


_AS_IS = frozenset((str, int, bool, type(None)))  # what needs no format to be JSON
_Readers = Sequence[Callable[[Any], Any]]


class Renaming:
    """Makes objects of records, or of objects by their attributes, as a TOML file says: the
    object's name and its fields."""

    def __init__(
        self,
        path: Path,
        formats: Mapping[str, Callable[[Any], Any]],
        default: Callable[[str], str] = _snake_case,
    ) -> None:
        """`formats` has "" for fields without a format, if these are not shown as they are;
        `default` makes the name of a field without one."""
        self._path, self._default = path, default
        self._formats = {"": lambda value: value, **formats}

    @cached_property
    def _objects(self) -> Mapping[str, Sequence[tuple[str, str, _Readers]]]:
        """The names, formats and readers of fields, by the object's name."""
        table = tomllib.loads(self._path.read_text(encoding="utf-8"))
        return {
            name: [
                (field.name, field.format or "", _readers(field.source))
                for field in (renamed_field(text, self._default) for text in written)
            ]
            for name, written in table.items()
        }

    def names(self, name: str) -> list[str]:
        """Return the names of an object's fields."""
        return [field_name for field_name, _, _ in self._objects[name]]

    def __call__(
        self, name: str, record: object, **formats: Callable[[Any], Any]
    ) -> dict[str, Any]:
        """Return the object; `formats` are more of them."""
        chosen = {**self._formats, **formats} if formats else self._formats
        is_dict = isinstance(record, dict)
        made = {}
        for field, as_, readers in self._objects[name]:
            value = readers[is_dict](record)
            is_plain = not as_ and value.__class__ in _AS_IS
            made[field] = value if is_plain else chosen[as_](value)
        return made


def _readers(source: str) -> _Readers:
    """Return what reads a source of an object's attributes, and of a record."""
    if source in CONSTANTS or source.startswith('"'):
        constant = CONSTANTS.get(source, source.strip('"'))
        return (lambda _: constant,) * 2
    first, _, rest = source.partition(".")
    outer = (attrgetter(first), itemgetter(first))
    return [_reader_of_both(read, _readers(rest)) for read in outer] if rest else outer


def _reader_of_both(read: Callable[[Any], Any], readers: _Readers) -> Callable[[Any], Any]:
    def read_both(record: Any) -> Any:
        value = read(record)
        return readers[isinstance(value, dict)](value)

    return read_both


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return to_hex(value)
    if hasattr(value, "record"):
        return value.record()
    return [*map(_plain, value)] if isinstance(value, list | tuple) else value


def recording(module_path: str) -> Renaming:
    """Return what makes JSON records of objects, by records.toml in the folder of a module: fields
    are attributes, with names in camel case; bytes are hex, and objects in them their record()."""
    formats = {"": _plain, "text": lambda value: None if value is None else str(value)}
    return Renaming(Path(module_path).with_name("records.toml"), formats, camel_case)
