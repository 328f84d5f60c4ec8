"""A compiler of Vyper whose imports are done, which take three quarters of the processor of a small
compilation: forked for each line of standard input, a folder to run in, the file of an input, and
the named pipe of the reply. It does as scan/verification/languages/vyper_script.py does.
"""

import os
import runpy
import signal
import sys
import warnings
from importlib import metadata
from pathlib import Path

LANGUAGES = Path(__file__).resolve().parents[2] / "scan" / "verification" / "languages"
SCRIPT = LANGUAGES / "vyper_script.py"


def main(packages):
    sys.path.insert(0, packages)
    warnings.simplefilter("ignore")
    [distribution] = metadata.distributions(name="vyper", path=[packages])
    [entry_point] = distribution.entry_points.select(group="console_scripts", name="vyper")
    compiler = entry_point.load()
    runpy.run_path(str(SCRIPT))["accept_equal_names"]()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        if os.fork() == 0:
            _answer(compiler, *map(Path, line.split()))


def _answer(compiler, folder, given, reply):
    os.chdir(folder)
    sys.argv = ["vyper", "--standard-json"]
    done = "failed"
    try:
        with given.open(encoding="utf-8") as sys.stdin, given.with_name("output").open("w") as file:
            sys.stdout = file
            compiler()
        done = "compiled"
    finally:
        reply.write_text(f"{done}\n")
        os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
