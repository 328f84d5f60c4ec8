"""`scan run` without a node runs with the demo chain."""

from importlib import import_module

from scan.commands.hooks import CommandOptions, Commands
from scan.settings import Settings


def run_demo_chain(settings: Settings) -> int:
    # Imported here, as it imports the whole indexer, which other commands do without.
    demo_run = import_module("scan.extensions.demo.demo_run")
    return int(demo_run.run_demo_chain(settings))


HOOKS = Commands(options={"run": CommandOptions(run_without_node=run_demo_chain)})
