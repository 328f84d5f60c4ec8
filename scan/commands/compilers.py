"""`scan solc` and `scan vyper`: install and list the compilers that verification uses."""

import argparse
import sys
from functools import partial

from tqdm import tqdm

from scan.commands import EXIT_FAILED, arguments
from scan.observability.logs import print_lines
from scan.settings import Settings
from scan.verification.compiler_store import SOLC, CompilerKind, CompilerStore, NotFetched, sha256
from scan.verification.languages.vyper import VYPER
from scan.verification.sandbox import NETWORK_IS_KEPT, can_deny_network
from scan.verification.settings_search import dotted


def _add_actions(kind: CompilerKind, example: str, group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    text = "download compilers and check their digests"
    arguments.add_command(actions, "install", text, run=partial(install, kind=kind)).add_argument(
        "versions", nargs="+", metavar="VERSION", help=f"such as {example}"
    )
    text = "print the installed versions"
    arguments.add_list(actions, text, partial(list_installed, kind=kind), ("version",))


add_solc = partial(_add_actions, SOLC, "0.8.26")
add_vyper = partial(_add_actions, VYPER.kind, "0.4.3")


def install(settings: Settings, options: argparse.Namespace, kind: CompilerKind = SOLC) -> int:
    compilers = CompilerStore(settings, kind)
    failures = 0
    versions = [kind.parse_version(text) for text in options.versions]
    # With `disable=None` the bar is shown only on a terminal.
    for version in tqdm(versions, unit=" compilers", disable=None, leave=False):
        try:
            is_installed = compilers.find(version) is not None
            source = "already installed" if is_installed else f"from {compilers.install(version)}"
            compiler = compilers.find(version)
            if compiler is None:
                raise NotFetched("it was installed, but cannot be executed")
            soljson = compiler.executable.with_name("soljson.js")
            digest = sha256(soljson if soljson.is_file() else compiler.executable)
            tqdm.write(f"{kind.name} {dotted(version)} {source}, sha256 {digest}")
        except (NotFetched, OSError) as error:
            failures += 1
            print_lines(f"scan: {kind.name} {dotted(version)}: {error}", file=sys.stderr)
    return EXIT_FAILED if failures else 0


def list_installed(
    settings: Settings, options: argparse.Namespace, kind: CompilerKind = SOLC
) -> int:
    compilers = CompilerStore(settings, kind)
    versions = compilers.versions()
    arguments.print_rows(options, [[dotted(version)] for version in versions])
    if not versions:
        print_lines(
            f"no compiler in {compilers.directory};"
            f" `scan {kind.name} install VERSION` installs one",
            file=sys.stderr,
        )
    if not can_deny_network():
        print_lines(f"scan: {NETWORK_IS_KEPT}", file=sys.stderr)
    return 0
