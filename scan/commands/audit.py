"""`scan audit`: recomputes derived tables, compares blocks with the node's."""

import argparse

from scan.audit import derived_tables
from scan.commands.arguments import whole_number
from scan.commands.startup import require_node, require_order, with_running_database
from scan.errors import SettingError
from scan.settings import Settings


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("--repair", action="store_true", help="correct derived values")
    command.add_argument(
        "--node", action="store_true", help="also compare blocks with the node (RPC_URL)"
    )
    command.add_argument(
        "--blocks",
        type=whole_number,
        default=1000,
        help="with --node: number of blocks; 0: all (1000)",
    )
    command.add_argument("--digest", action="store_true", help="only print a digest of each table")
    command.add_argument(
        "--from",
        dest="first",
        type=whole_number,
        metavar="BLOCK",
        help="only the rows of these blocks, a thousand at a time",
    )
    command.add_argument(
        "--to", dest="last", type=whole_number, metavar="BLOCK", help="the last of them"
    )


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = with_running_database(settings)
    is_of_range = options.first is not None or options.last is not None
    if is_of_range and (options.repair or options.digest):
        raise SettingError("--from, --to", "", "not possible together with --repair or --digest")
    require_order(options.first, options.last)
    if options.node:
        require_node(settings)
    return derived_tables.run(settings, options)
