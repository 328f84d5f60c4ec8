"""Vyper's compiler behind the two calls that a native solc answers here: `--version`, and
`--standard-json` with the input on stdin. vyper.py writes this file beside `packages`.

`--hash-seed N` before them makes a run repeatable: the seed of Python's hashes, and no random
addresses of objects where the kernel allows that.
"""

import ctypes
import importlib
import os
import sys
import warnings
from importlib import metadata
from pathlib import Path, PurePath
from typing import Any

ADDR_NO_RANDOMIZE = 0x0040000  # linux/personality.h


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--hash-seed"]:
        ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
        # With -I, Python does not read the seed from its environment, which is ours here.
        command = [sys.executable, "-BSsP", __file__, *arguments[2:]]
        os.execve(sys.executable, command, {"LANG": "C.UTF-8", "PYTHONHASHSEED": arguments[1]})
    packages = str(Path(__file__).resolve().with_name("packages"))
    sys.path.insert(0, packages)
    warnings.simplefilter("ignore")
    sys.argv = ["vyper", *arguments]
    [distribution] = metadata.distributions(name="vyper", path=[packages])
    [entry_point] = distribution.entry_points.select(group="console_scripts", name="vyper")
    compiler = entry_point.load()
    accept_equal_names()
    compiler()


def accept_equal_names() -> None:
    """Let standard JSON have files of one name in several folders, such as Vault.vy and
    lib/Vault.vy, as files on the command line may since 0.4: modules are found by their paths."""
    vyper_json: Any = importlib.import_module("vyper.cli.vyper_json")
    if not hasattr(vyper_json, "get_inputs"):  # before 0.4
        return
    check = vyper_json.get_inputs

    def get_inputs(given: dict[str, Any]) -> dict[PurePath, Any]:
        inputs: dict[PurePath, Any] = {}
        for kind in ("sources", "interfaces"):
            for path, value in given.get(kind, {}).items():
                inputs |= check({"sources": {}, kind: {path: value}})
        return inputs

    vyper_json.get_inputs = get_inputs


if __name__ == "__main__":
    main(sys.argv[1:])
