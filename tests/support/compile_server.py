"""Compilers of Solidity that stay between compilations, in a process of Node that all workers of a
run share."""

import atexit
import os
import select
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.support.folders import new_folder, temporary_folder

SUPPORT = Path(__file__).resolve().parent
BUILT = SUPPORT / "built"
SHARED = "TESTS_COMPILE_REQUESTS"  # in the environment of a run's workers
TIMEOUT_S = 300


@cache
def compile_requests():
    """The named pipe of the run's server. The process that starts it ends it: nobody else keeps the
    pipe open."""
    if shared := os.environ.get(SHARED):
        return Path(shared)
    folder, outputs = new_folder("scan-compilers-"), BUILT / "outputs"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    outputs.mkdir(parents=True, exist_ok=True)
    requests = folder / "requests"
    os.mkfifo(requests)
    os.open(requests, os.O_RDWR)
    script = SUPPORT / "node" / "compile_server.cjs"
    # Without V8's warnings, of early compilers.
    subprocess.Popen(["node", "--no-warnings", str(script), str(requests), str(outputs)])
    return requests


def compile_json(package, soljson, standard):
    """The standard JSON output of npm's compiler, which finds imports in node_modules, or of the
    project's script around one, which finds none; None of what has to run by itself."""
    with temporary_folder("scan-compile-") as folder:
        given, reply = folder / "input", folder / "reply"
        given.write_bytes(standard)
        os.mkfifo(reply)
        with os.fdopen(os.open(reply, os.O_RDWR), "rb", buffering=0) as answer:
            with compile_requests().open("w") as requests:
                requests.write(f"{package} {soljson} {given} {reply}\n")
            assert select.select([answer], [], [], TIMEOUT_S)[0], "no compiler has answered"
            done, _, output = answer.read(1000).decode().rstrip("\n").partition(" ")
        return Path(output).read_bytes() if done == "compiled" else None
