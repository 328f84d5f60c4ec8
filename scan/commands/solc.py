"""`scan solc`: the Solidity compilers that verification uses."""

import argparse
import sys

from tqdm import tqdm

from scan.commands import EXIT_FAILED
from scan.settings import Settings
from scan.verification.compiler_install import NotFetched, install_one
from scan.verification.compiler_releases import dotted, parse_version
from scan.verification.installed_compilers import InstalledCompilers


def install(settings: Settings, options: argparse.Namespace) -> int:
    compilers = InstalledCompilers(settings)
    failures = 0
    wanted = [parse_version(version) for version in options.versions]
    for each in tqdm(wanted, unit=" compilers", disable=None, leave=False):  # a terminal's bar
        try:
            tqdm.write(str(install_one(compilers, each)))
        except (NotFetched, OSError) as error:
            failures += 1
            print(f"scan: solc {dotted(each)}: {error}", file=sys.stderr)
    return EXIT_FAILED if failures else 0


def list_installed(settings: Settings, _options: argparse.Namespace) -> int:
    compilers = InstalledCompilers(settings)
    installed = compilers.versions()
    for each in installed:
        print(dotted(each))
    if not installed:
        print(
            f"no compiler in {compilers.directory}; `scan solc install VERSION` installs one",
            file=sys.stderr,
        )
    return 0
