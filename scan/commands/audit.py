"""`scan audit`: recomputes derived tables, compares blocks with the node's."""

import argparse

from scan.audit import derived_tables
from scan.commands.startup import require_node, with_running_database
from scan.errors import SettingError
from scan.settings import Settings


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = with_running_database(settings)
    is_of_range = options.first is not None or options.last is not None
    if is_of_range and (options.repair or options.digest):
        raise SettingError("--from, --to", "", "not possible together with --repair or --digest")
    if None not in (options.first, options.last) and options.first > options.last:
        raise SettingError("--to", str(options.last), "is before --from")
    if options.node:
        require_node(settings)
    return derived_tables.run(settings, options)
