"""Helpers for the options of subcommands: actions of a group, and types of numbers."""

import argparse
import json
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from scan import registry
from scan.commands.hooks import CommandOptions, Commands
from scan.observability.logs import print_data
from scan.setting_kinds import integer
from scan.settings import Settings

ALIGNED_ROWS = 1000  # whose widths are those of a list's columns
_T = TypeVar("_T")
Run = Callable[[Settings, argparse.Namespace], int]


def options_of_extensions(command: str) -> list[CommandOptions]:
    """Return the options that extensions add to a command."""
    parts = registry.parts(Commands)
    return [part.options[command] for part in parts if command in part.options]


def run_of_extensions(command: str, settings: Settings, options: argparse.Namespace) -> int | None:
    """Run what an extension's option asks for, and return its exit code; None where none is
    given."""
    codes = (own.run(settings, options) for own in options_of_extensions(command))
    return next((code for code in codes if code is not None), None)


def add_command(
    commands: Any, name: str, text: str, description: str = "", run: Run | None = None
) -> argparse.ArgumentParser:
    """Add a subcommand, or an action of a group, that `run` runs, and return its parser. A `name`
    of several words is its name and former ones, which still work.

    `text` is its line in the help, and as a sentence its description, unless a longer one is given.
    """
    name, *aliases = name.split()
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        aliases=aliases,
        help=text,
        description=description or f"{text[0].upper()}{text[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.set_defaults(run=run)
    return command


def add_actions(group: argparse.ArgumentParser) -> Any:
    """Make a subcommand a group of actions, unless it is one, and return the object that
    add_command() adds them to. Without an action, the group prints its help."""
    actions = group.get_default("actions")
    if actions is None:
        actions = group.add_subparsers(metavar="action")
        group.set_defaults(parser=group, actions=actions)
    return actions


def add_list(
    actions: Any, text: str, run: Run, names: Sequence[str], name: str = "list"
) -> argparse.ArgumentParser:
    """Add an action whose `run` prints rows by print_rows(), of columns with these `names`."""
    command = add_command(actions, name, text, run=run)
    command.set_defaults(names=names)
    command.add_argument("--json", action="store_true", help="print a JSON object per row")
    return command


def print_rows(options: argparse.Namespace, rows: Iterable[Sequence[Any]]) -> None:
    """Print rows of the columns that add_list() names in camelCase: with headings, or as JSON."""
    if options.json:
        for row in rows:
            print_data(json.dumps(dict(zip(options.names, row, strict=True))))
        return
    headings = [re.sub("([A-Z])", r" \1", name).upper() for name in options.names]
    lines = (["-" if value is None else str(value) for value in row] for row in rows)
    first = [headings, *islice(lines, ALIGNED_ROWS)]
    widths = [max(map(len, column)) for column in zip(*first, strict=True)]
    for line in chain(first, lines):
        print_data("  ".join(map(str.ljust, line, widths)).rstrip())


def add_metrics_port(command: argparse.ArgumentParser) -> None:
    text = "port of /metrics and /healthz at HOST; default: none"
    command.add_argument(
        "--metrics-port", type=setting_type(integer(1, 65535)), metavar="PORT", help=text
    )


def setting_type(parse: Callable[[str], _T]) -> Callable[[str], _T]:
    """Return the type of an option that is parsed as settings are."""

    def parse_argument(text: str) -> _T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parse_argument


def whole_number(text: str) -> int:
    """Parse a block's number, a number of blocks, or a record's id."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError("must be a whole number, 0 or more")
    return int(text)


def count(text: str) -> int:
    """Parse a number of things, from 1 to a million."""
    number = whole_number(text)
    if not 1 <= number <= 1_000_000:
        raise argparse.ArgumentTypeError("must be a whole number, 1 to 1000000")
    return number
