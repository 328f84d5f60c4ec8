"""`scan audit`: recomputes derived tables, compares blocks with the node's."""

import argparse

from scan.audit import derived_tables
from scan.commands.startup import require_node, with_running_database
from scan.settings import Settings


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = with_running_database(settings)
    if options.node:
        require_node(settings)
    return derived_tables.run(settings, options)
