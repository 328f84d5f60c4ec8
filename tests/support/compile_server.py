"""Solidity compilers that stay between compilations: one process of Node for each worker."""

import atexit
import os
import select
import shutil
import subprocess
from collections import namedtuple
from functools import cache
from pathlib import Path

from tests.support.folders import new_folder, temporary_folder

SCRIPT = Path(__file__).resolve().parent / "node" / "compile_server.cjs"
TIMEOUT_S = 300


class CompileServer(namedtuple("CompileServer", "requests process")):
    """A process that ends with this one: nobody else keeps its named pipe open."""


@cache
def compile_server():
    folder = new_folder("scan-compilers-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    requests = folder / "requests"
    os.mkfifo(requests)
    os.open(requests, os.O_RDWR)
    command = ["node", "--no-warnings", str(SCRIPT), str(requests)]  # V8's, of early compilers
    return CompileServer(requests, subprocess.Popen(command))


def compile_json(package, soljson, standard):
    """The standard JSON output of npm's compiler, which finds imports in node_modules."""
    server = compile_server()
    with temporary_folder("scan-compile-") as folder:
        given, output, reply = (folder / name for name in ("input", "output", "reply"))
        given.write_text(standard)
        os.mkfifo(reply)
        pipe = os.open(reply, os.O_RDWR)
        try:
            with server.requests.open("w") as requests:
                requests.write(f"{package} {soljson} {given} {output} {reply}\n")
            assert select.select([pipe], [], [], TIMEOUT_S)[0], server.process.poll()
            assert os.read(pipe, 100) == b"compiled\n", output.read_text()
        finally:
            os.close(pipe)
        return output.read_bytes()
