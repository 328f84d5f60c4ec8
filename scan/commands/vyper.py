"""`scan vyper`: the Vyper compilers that verification uses."""

import argparse

from scan.commands.solc import add_compiler_actions
from scan.verification.languages.vyper import VYPER


def add_arguments(group: argparse.ArgumentParser) -> None:
    add_compiler_actions(group, VYPER.kind, "0.4.3")
