"""Processes of Python, such as `python -m gunicorn` or `python -m scan`, with their imports done.

Of 1.5 s of processor that a server takes until it answers, 1.3 s is imports and the rendering of
statements and templates. The tests start some five hundred. `Forked` is a subprocess.Popen of such
a command: one process for each worker of pytest, which has imported everything, forks it and
reports how it ended. Where a shell starts the command, or imports read the environment,
subprocess.Popen is used.
"""

import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

from app import create_app
from scan.database.statements import read_statement, texts
from scan.settings import Settings
from tests.support import WAIT_S

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = tuple(
    "app gunicorn.app.wsgiapp scan.server.worker scan.commands.processes scan.commands.key".split()
)
_STARTING = threading.Lock()


class Forked(subprocess.Popen):
    """Takes what Popen takes, but for `preexec_fn`, `pass_fds` and sessions of its own."""

    def _execute_child(self, args, *rest):
        _executable, _preexec, _close, _pass, cwd, env, _info, _flags, _shell, *pipes = rest
        read, _, _, write, _, error = pipes[:6]
        assert args[0] == sys.executable and args[1] in ("-m", "-c"), args
        self._report, child_report = socket.socketpair()
        request = {
            "arguments": [str(word) for word in args[1:]],
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ if env is None else env),
        }
        descriptors = [
            own if given == -1 else given for own, given in enumerate((read, write, error))
        ]
        with child_report, _STARTING:
            message = [json.dumps(request).encode()]
            socket.send_fds(_forking_process(), message, [*descriptors, child_report.fileno()])
        self._close_pipe_fds(*pipes[:6])
        self.pid = int.from_bytes(self._report.recv(8), "big")
        assert self.pid, "the forking process ended"
        self._child_created = True

    def _internal_poll(self, _deadstate=None, *_):
        with self._waitpid_lock:
            if self.returncode is None and select.select([self._report], [], [], 0)[0]:
                self._try_wait(0)
        return self.returncode

    def _try_wait(self, wait_flags):
        if wait_flags & os.WNOHANG and not select.select([self._report], [], [], 0)[0]:
            return 0, 0
        status = int.from_bytes(self._report.recv(8), "big")
        self.returncode = os.waitstatus_to_exitcode(status)
        self._report.close()
        return self.pid, status


def run(arguments, *, timeout=WAIT_S, **options):
    """As subprocess.run() with what the process prints as text."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with Forked(arguments, **pipes, **options) as process:
        try:
            printed = process.communicate(timeout=timeout)
        finally:
            process.kill()
    return subprocess.CompletedProcess(arguments, process.returncode, *printed)


@cache
def _forking_process():
    """Its end of the socket; it ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        command = [sys.executable, "-m", __name__, str(theirs.fileno())]
        subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=ROOT)
    return ours


def _serve(control):
    """Fork for each request until the socket is closed; the arguments, in what is forked."""
    for name in MODULES:
        import_module(name)
    for name in texts():
        read_statement(name)
    create_app(Settings())
    gc.freeze()
    assert threading.active_count() == 1, "a thread would be lost in what is forked"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, descriptors, *_ = socket.recv_fds(control, 1 << 20, 4)
        if not message:
            os._exit(0)
        if os.fork() == 0:
            control.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            report = socket.socket(fileno=descriptors.pop())
            if process := os.fork():
                report.send(process.to_bytes(8, "big"))
                with suppress(OSError):  # nobody waits for it any more
                    report.send(os.waitpid(process, 0)[1].to_bytes(8, "big"))
                os._exit(0)
            report.close()
            return _become(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _become(request, descriptors):
    """Give this process what a new one would have of the request; its arguments."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    return list(request["arguments"])


def _run(kind, program, *arguments):
    """What `python -m module` or `python -c code` does."""
    sys.argv = [kind, *arguments]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = ModuleType("__main__")
        exec(program, vars(sys.modules["__main__"]))


if __name__ == "__main__":
    _run(*_serve(socket.socket(fileno=int(sys.argv[1]))))
