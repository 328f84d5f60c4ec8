"""`scan audit`: recomputes derived tables, compares blocks with the node's."""

import argparse

from scan.audit import derived_tables
from scan.commands.startup import require_node, require_order, with_running_database
from scan.errors import SettingError
from scan.settings import Settings


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = with_running_database(settings)
    is_of_range = options.first is not None or options.last is not None
    if is_of_range and (options.repair or options.digest):
        raise SettingError("--from, --to", "", "not possible together with --repair or --digest")
    require_order(options.first, options.last)
    if options.node:
        require_node(settings)
    return derived_tables.run(settings, options)
