"""The adapter of a language: what its compiler takes and gives, and where it comes from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scan.verification.compiler_releases import SolcVersion
from scan.verification.compiler_store import CompilerKind

Settings = dict[str, Any]
Sources = Mapping[str, str]
Selection = Mapping[str, Mapping[str, Sequence[str]]]


class CompilerInput(NamedTuple):
    """A standard JSON input, and the options of the compiler's command line."""

    standard: Mapping[str, Any]
    options: Sequence[str] = ()


class Language(NamedTuple):
    """A language. `name` is that of standard JSON; `suffixes` are those of its files, () for any.

    `settings` are the accepted settings of a standard JSON input with their types. `candidates`
    yields the settings to try, from those given, the version and the deployed code. `take` makes
    the compiler's input of sources, settings, selected outputs and the version. `give` brings the
    output of such an input into solc's form. `is_reproducible`: a version gives the same code in
    each run. `has_trees`: its compiler gives syntax trees in solc's form.
    """

    name: str
    kind: CompilerKind
    suffixes: tuple[str, ...]
    unnamed_path: str
    settings: Mapping[str, type | tuple[type, ...]]
    candidates: Callable[[Mapping[str, Any], SolcVersion, bytes], Iterator[Settings]]
    take: Callable[[Sources, Settings, Selection, SolcVersion], CompilerInput]
    give: Callable[[dict[str, Any], SolcVersion], dict[str, Any]]
    is_reproducible: Callable[[SolcVersion], bool]
    has_trees: bool = False
