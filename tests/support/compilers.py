"""Compilers that are found, fail, or do what no real one should."""

import os

from scan.settings import Settings
from scan.verification import compiler_store
from scan.verification.compiler_run import compile_source
from tests.support.explorer import standard_input

OBJECT = {"*": {"*": ["evm.deployedBytecode.object"]}}
NEWEST = (0, 8, 28)


def placed_in(directory, kind=compiler_store.SOLC):
    return compiler_store.CompilerStore(Settings(solc_dir=directory, path=os.environ["PATH"]), kind)


def fake(tmp_path, script):
    """A compiler that does what no real one should."""
    name = "solc-0.8.28"
    executable = tmp_path / name / name
    executable.parent.mkdir()
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    return placed_in(tmp_path)


def run(compilers, source, timeout_s=30.0, version=NEWEST):
    compiler = compilers.find(version)
    standard = standard_input({"a.sol": source}, outputSelection=OBJECT)
    return compile_source(compiler, standard, timeout_s)
