"""Compilers that stay between compilations: those of Solidity in a process of Node that all workers
of a run share, each of Vyper in a process of its own, which is forked."""

import atexit
import os
import select
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock

from tests.support.folders import new_folder, temporary_folder

SUPPORT = Path(__file__).resolve().parent
BUILT = SUPPORT / "built"
SHARED = "TESTS_COMPILE_REQUESTS"  # in the environment of a run's workers
TIMEOUT_S = 300
_WRITING = Lock()


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
    with _request(standard) as (given, reply, answer):
        with compile_requests().open("w") as requests:
            requests.write(f"{package} {soljson} {given} {reply}\n")
        done, _, output = answer().partition(" ")
        return Path(output).read_bytes() if done == "compiled" else None


def compile_vyper(packages, folder, standard):
    """The same of the Vyper with these packages, run in a folder; None where it fails."""
    with _request(standard) as (given, reply, answer):
        with _WRITING:
            requests = _vyper(packages).stdin
            requests.write(f"{folder} {given} {reply}\n")
            requests.flush()
        return given.with_name("output").read_bytes() if answer() == "compiled" else None


@cache
def _vyper(packages):
    command = [sys.executable, "-IBS", str(SUPPORT / "vyper_server.py"), str(packages)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True)


@contextmanager
def _request(standard):
    """The file of an input, the named pipe of the reply, and what waits for it."""
    with temporary_folder("scan-compile-") as folder:
        given, reply = folder / "input", folder / "reply"
        given.write_bytes(standard)
        os.mkfifo(reply)
        pipe = os.open(reply, os.O_RDWR)

        def answer():
            assert select.select([pipe], [], [], TIMEOUT_S)[0], "no compiler has answered"
            return os.read(pipe, 1000).decode().rstrip("\n")

        try:
            yield given, reply, answer
        finally:
            os.close(pipe)
