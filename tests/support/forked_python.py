"""Processes of Python, such as `python -m gunicorn` or `python -m scan`, with their imports done.

Of 1.5 s of processor that a server takes until it answers, 1.3 s is imports and the rendering of
statements and templates; its end takes another 0.05 s. The tests start some five hundred. `Forked`
is a subprocess.Popen of such a command: one process for each worker of pytest, which has imported
everything, forks it and reports how it ended. Where a shell starts the command, or imports read the
environment, subprocess.Popen is used.
"""

import atexit
import gc
import json
import math
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
from scan.database.connection import check_sessions_at
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
        with child_report:
            socket.send_fds(
                _forking_process(),
                [json.dumps(request).encode()],
                [*descriptors, child_report.fileno()],
            )
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
            output, errors = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, output, errors)


def _forking_process():
    with _STARTING:
        return _start_forking_process()


@cache
def _start_forking_process():
    """Its end of the socket; it ends when this process does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=ROOT,
        )
    return ours


def _serve(control):
    """Fork for each request until the socket is closed; the arguments, in what is forked."""
    for name in MODULES:
        import_module(name)
    for name in texts():
        read_statement(name)
    create_app(Settings())
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a thread would be lost in what is forked"
    reports = {}
    ended, woken = os.pipe()
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(woken)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        readable, *_ = select.select([control, ended], [], [])
        if ended in readable:
            os.read(ended, 4096)
            _report_ends(reports)
            continue
        message, descriptors, *_ = socket.recv_fds(control, 1 << 20, 4)
        if not message:
            os._exit(0)
        report = socket.socket(fileno=descriptors.pop())
        process = os.fork()
        if process == 0:
            for descriptor in (ended, woken):
                os.close(descriptor)
            for other in (control, report, *reports.values()):
                other.close()
            return _become(json.loads(message), descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        reports[process] = report
        report.send(process.to_bytes(8, "big"))


def _report_ends(reports):
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            process, status = ended
            with reports.pop(process) as report, suppress(OSError):
                report.send(status.to_bytes(8, "big"))


def _become(request, descriptors):
    """Give this process what a new one would have of the request; its arguments."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    for descriptor in descriptors:
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    os.chdir(request["folder"])
    sys.path[0] = request["folder"]
    if "host=/" in (url := os.environ.get("DATABASE_URL", "")):  # before which no pooler stands
        check_sessions_at[url] = math.inf
    return list(request["arguments"])


def _run(kind, program, *arguments):
    """What `python -m module` or `python -c code` does."""
    sys.argv = [kind, *arguments]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.modules["__main__"] = ModuleType("__main__")
        exec(program, vars(sys.modules["__main__"]))


def _end(code):
    """What the interpreter does at its end, but for freeing all that was imported."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    try:
        _run(*_serve(socket.socket(fileno=int(sys.argv[1]))))
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        _end(end.code)
    _end(0)
