"""`scan solc`: the Solidity compilers that verification uses."""

import argparse
import sys

from tqdm import tqdm

from scan.commands import EXIT_FAILED
from scan.commands.arguments import add_actions, add_command
from scan.settings import Settings
from scan.verification.compiler_releases import SolcVersion, dotted, parse_version
from scan.verification.compiler_store import CompilerStore, NotFetched, sha256
from scan.verification.sandbox import NETWORK_IS_KEPT, can_deny_network


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    text = "download compilers and check their digests"
    add_command(actions, "install", text, run=install).add_argument(
        "versions", nargs="+", metavar="VERSION", help="such as 0.8.26"
    )
    add_command(actions, "list", "print the installed versions", run=list_installed)


def install(settings: Settings, options: argparse.Namespace) -> int:
    compilers = CompilerStore(settings)
    failures = 0
    versions = [parse_version(text) for text in options.versions]
    # With `disable=None` the bar is shown only on a terminal.
    for version in tqdm(versions, unit=" compilers", disable=None, leave=False):
        try:
            tqdm.write(_install(compilers, version))
        except (NotFetched, OSError) as error:
            failures += 1
            print(f"scan: solc {dotted(version)}: {error}", file=sys.stderr)
    return EXIT_FAILED if failures else 0


def list_installed(settings: Settings, _options: argparse.Namespace) -> int:
    compilers = CompilerStore(settings)
    versions = compilers.versions()
    for version in versions:
        print(dotted(version))
    if not versions:
        print(
            f"no compiler in {compilers.directory}; `scan solc install VERSION` installs one",
            file=sys.stderr,
        )
    if not can_deny_network():
        print(f"scan: {NETWORK_IS_KEPT}", file=sys.stderr)
    return 0


def _install(compilers: CompilerStore, version: SolcVersion) -> str:
    """Install a compiler, and return the line to print, with the compiler's source and digest."""
    is_installed = compilers.find(version) is not None
    source = "already installed" if is_installed else f"from {compilers.install(version)}"
    compiler = compilers.find(version)
    if compiler is None:
        raise NotFetched("it was installed, but cannot be executed")
    soljson = compiler.executable.with_name("soljson.js")
    digest = sha256(soljson if soljson.is_file() else compiler.executable)
    return f"solc {dotted(version)} {source}, sha256 {digest}"
