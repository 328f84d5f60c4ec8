"""Vyper's compiler behind the two calls that a native solc answers here: `--version`, and
`--standard-json` with the input on stdin. vyper.py writes this file beside `packages`.

`--hash-seed N` before them makes a run repeatable: the seed of Python's hashes, and no random
addresses of objects where the kernel allows that.
"""

import ctypes
import os
import sys
import warnings
from importlib import metadata
from pathlib import Path

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
    entry_point.load()()


if __name__ == "__main__":
    main(sys.argv[1:])
