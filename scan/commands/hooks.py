"""What extensions add to commands."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from scan.registry import Part
from scan.settings import Settings

if TYPE_CHECKING:  # most commands need no indexer
    from scan.indexer.chain_indexer import BackfillEnd


class Arguments(Protocol):
    """A command's parser, or a group of options that exclude each other."""

    def add_argument(self, *names: str, **properties: Any) -> argparse.Action: ...


class CommandOptions(NamedTuple):
    """Options that a command has from an extension, or values of its own ones. `run` returns an
    exit code where one of them is given, None where the command is to run as without them. Those of
    `scan run` exclude each other, and `run_without_node` is what it runs without RPC_URL."""

    run: Callable[[Settings, argparse.Namespace], int | None] = lambda settings, options: None
    add_arguments: Callable[[Arguments], None] = lambda command: None
    run_without_node: Callable[[Settings], int] | None = None


class Commands(Part, module="command_options"):
    """Additions to commands."""

    options: Mapping[str, CommandOptions]
    """Options by the command that has them, and what it does with them."""


class RunVariables(NamedTuple):
    """Variables that `scan run` sets for the processes it starts, and the line that says why."""

    environment: Mapping[str, str]
    line: str


class RunSettings(Part, module="run_settings"):
    """What `scan run` finds by itself beside a node of the operator's."""

    find: Callable[[Settings], RunVariables]
    """Returns what a setting that is not given is to be."""


class AutomaticBackfill(Part, module="indexing"):
    """Filling an empty index that is far behind."""

    run: Callable[[Settings, threading.Event], BackfillEnd]
    """Fills the index until the end, or until the event is set."""


class Indexing(Part, module="indexing"):
    """What runs beside indexing."""

    run: Callable[[Settings, threading.Event], None]
    """Runs in a thread of the indexer's process until the event is set."""
