"""CompilerStore under limits: what hostile sources cannot do."""

import errno
import os
import socket
import subprocess
import sys
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from scan.errors import InvalidParameter, Unavailable
from scan.verification import compiler_run, compiler_store, sandbox
from scan.verification.compiler_run import (
    MOST_OUTPUT_VALUES,
    CompilerPlaces,
    OutOfLimits,
    compile_source,
)
from scan.verification.settings_search import parse_version
from tests.support import WAIT_S
from tests.support.compilers import NEWEST, fake, placed_in, run
from tests.support.serving import wait_until


@pytest.mark.parametrize(
    "text", ["0.8.19", "v0.8.19", "v0.8.19+commit.7dd6d404", "0.8.19+commit.7dd6d404.Linux.g++"]
)
def test_a_version_is_taken_as_people_write_it(text):
    assert parse_version(text) == (0, 8, 19)


@pytest.mark.parametrize(
    "text",
    [
        *("../../bin/sh", "0.8.19/../../x", "latest", "", "0.8", "^0.8.19", "0.8.19 ", "0.8.19\n"),
        *("0.8.19-nightly", "0.4.40", "0.5.18", "0.4.10", "1.0.0", "0.8.٣", None, 8, ["0.8.19"]),
    ],
)
def test_a_version_that_is_none_is_refused(text):
    with pytest.raises(InvalidParameter):
        parse_version(text)


@pytest.mark.parametrize("version", [pytest.param((0, 4, 26), marks=pytest.mark.long), NEWEST])
def test_no_file_of_this_machine_is_read(compilers_dir, version, tmp_path):
    secret = tmp_path / "secret.sol"
    secret.write_text("contract Secret {}")
    paths = ("/etc/passwd", str(secret), f"file://{secret}", f"../../../../..{secret}")
    imports = "".join(f'import "{path}";\n' for path in paths)
    output = run(placed_in(compilers_dir), f"{imports} contract A {{}}", version=version)
    errors = [error["type"] for error in output["errors"] if error["severity"] == "error"]
    assert errors == ["ParserError"] * len(paths)
    assert "Secret" not in str(output) and "root:" not in str(output)


@pytest.mark.thorough
def test_a_source_that_needs_too_much_memory_meets_the_limit(compilers_dir, monkeypatch):
    """Near the limit the time is that of garbage collections, 1 to 30 s: it must not end first."""
    monkeypatch.setattr(sandbox, "MEMORY_KIB", 200 * 1024)
    monkeypatch.setattr(compiler_run, "COMPILE_TIMEOUT_S", 300.0)
    modifiers = "".join(f"modifier m{n}() {{ _; _; }} " for n in range(24))
    used = " ".join(f"m{n}" for n in range(24))
    source = f"contract A {{ uint x; {modifiers} function f() public {used} {{ x++; }} }}"
    with pytest.raises(OutOfLimits, match=r"200 MB|memory"):
        run(placed_in(compilers_dir), source, timeout_s=300.0)


def test_a_compilation_without_end_is_ended_with_its_children(tmp_path):
    compilers = fake(tmp_path, f"sleep 600 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(OutOfLimits, match="did not finish"):
        run(compilers, "", timeout_s=1)
    child = int((tmp_path / "child").read_text())
    status = Path(f"/proc/{child}/stat")
    wait_until(lambda: not status.exists() or status.read_text().split()[2] == "Z")


@pytest.mark.parametrize("leave", ["os.setsid()", "os.setpgid(0, 0)"])
def test_no_process_outlives_its_compilation(tmp_path, leave):
    """The executable forks twice, as daemons do, and its grandchild asks for a group of its own."""
    script = f"""
        import os, pathlib, time
        if os.fork() == 0:
            if os.fork() == 0:
                try:
                    {leave}
                except PermissionError:
                    pass
                pathlib.Path("{tmp_path}/pid").write_text(str(os.getpid()))
                time.sleep(600)
            os._exit(0)
        while not os.path.exists("{tmp_path}/pid"):
            time.sleep(0.01)
        print("{{}}")
    """
    file = tmp_path / "daemon.py"
    file.write_text(textwrap.dedent(script))
    assert run(fake(tmp_path, f"{sys.executable} {file}"), "") == {}
    status = Path(f"/proc/{(tmp_path / 'pid').read_text()}/stat")
    wait_until(lambda: not status.exists() or status.read_text().split()[2] == "Z")


@pytest.mark.parametrize(
    "more", ["os.fork()", "threading.Thread(target=time.sleep, args=[9]).start()"]
)
def test_a_compiler_that_multiplies_is_ended(tmp_path, more):
    """By its own count: RLIMIT_NPROC does not hold for root."""
    file = tmp_path / "many.py"
    file.write_text(
        "import os, threading, time\nthreading.stack_size(32768)\n"
        f"for _ in range(400):\n    if {more} == 0:\n        break\ntime.sleep(600)\n"
    )
    with pytest.raises(OutOfLimits, match="too many processes"):
        run(fake(tmp_path, f"exec {sys.executable} {file}"), "", timeout_s=20)


@pytest.mark.parametrize("family", ["AF_INET", "AF_UNIX"])
def test_a_compiler_has_no_network(tmp_path, monkeypatch, family):
    """Also where namespaces are forbidden: there is no `unshare` on this PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    address = ("127.0.0.1", 0) if family == "AF_INET" else str(tmp_path / "socket")
    with socket.socket(getattr(socket, family)) as server:
        server.bind(address)
        server.listen()
        server.settimeout(0)
        connect = f"socket.socket(socket.{family}).connect({server.getsockname()!r})"
        script = f"{sys.executable} -c \"import socket; {connect}\" || echo '{{}}'"
        assert run(fake(tmp_path, script), "") == {}
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("of_process", ["environ", "maps", "mem", "cwd/."])
def test_a_compiler_reads_nothing_of_the_service(tmp_path, of_process):
    """Also as root, and where Yama is absent; its own environment it may read."""
    other = f"/proc/{os.getpid()}/{of_process}"
    script = f"(exec 3< /proc/self/{of_process}) && ! (exec 3< {other}) && echo '{{}}'"
    assert run(fake(tmp_path, script), "") == {}


def test_without_landlock_the_service_hides_itself(tmp_path, monkeypatch):
    """Root reads everything, so the process that tries is another user's."""
    script = """
        import ctypes, os, pathlib, sys
        from scan.verification.confined_process import hide_this_process
        if os.getuid() == 0:
            os.setuid(65534)
        ctypes.CDLL(None).prctl(4, 1)  # as a program that was started by that user
        hide_this_process()
        if (child := os.fork()) == 0:
            ctypes.CDLL(None).prctl(4, 1)  # as after it has executed a compiler
            try:
                pathlib.Path(f"/proc/{os.getppid()}/environ").read_bytes()
            except PermissionError:
                os._exit(13)
            os._exit(0)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.run(command, timeout=WAIT_S).returncode == 13


def test_a_compiler_runs_where_its_network_cannot_be_denied(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "can_deny_network", lambda: False)
    assert run(fake(tmp_path, "grep -q 'Seccomp:.0' /proc/self/status && echo '{}'"), "") == {}


@pytest.mark.parametrize(
    ("script", "error", "words"),
    [
        pytest.param("exec cat /dev/zero", OutOfLimits, "32 MB", marks=pytest.mark.thorough),
        (
            f"""printf '{{"a":['; yes '{{}},' | head -n {MOST_OUTPUT_VALUES} | tr -d '\\n'
            printf '{{}}]}}'""",
            OutOfLimits,
            "500,000 values",
        ),
        *(
            (script, OutOfLimits, "crashed")
            for script in ("kill -SEGV $$", "exit 1", "echo no json", "echo '[]'")
        ),
        ("kill -KILL $$", Unavailable, "too little memory"),  # by the kernel: it may run later
    ],
)
def test_a_compiler_that_crashes_or_says_too_much_is_told(tmp_path, script, error, words):
    with pytest.raises(error, match=words):
        run(fake(tmp_path, script), "")


def test_a_full_disk_is_no_fault_of_the_source(tmp_path, monkeypatch):
    """Neither where the compiler's output was cut, nor where nothing could be written."""
    with monkeypatch.context() as patch, pytest.raises(Unavailable, match="disk"):
        patch.setattr(compiler_run.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
        run(fake(tmp_path, """printf '{"contracts":{"a.s'"""), "")

    (other := tmp_path / "other").mkdir()
    compiler = fake(other, "echo '{}'").find(NEWEST)
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr(compiler_run, "temporary_folder", full)
    with pytest.raises(Unavailable, match="disk"):
        compile_source(compiler, {}, 30.0)


def test_the_compiler_sees_an_empty_folder_and_a_bare_environment(tmp_path):
    assert run(fake(tmp_path, "(ls -A; env; ulimit -d; ulimit -c) > $0.seen; echo '{}'"), "") == {}
    output = (tmp_path / "solc-0.8.28" / "solc-0.8.28.seen").read_text()
    variables = {line.split("=")[0] for line in output.splitlines() if "=" in line}
    assert variables <= {"PATH", "HOME", "LANG", "PWD", "OLDPWD", "SHLVL", "_"}
    assert output.endswith(f"{1024 * 1024}\n0\n")  # 1 GB, in KiB


def test_a_lower_limit_of_the_system_stays_and_a_higher_one_is_lowered():
    """Only a privileged process may raise one, and then none could compile."""
    confined = [sys.executable, sandbox.confined_process.__file__, "RLIMIT_NOFILE=900"]
    for hard, open_files in (("700", "700\n"), ("1100", "900\n")):
        limits = ["bash", "-c", f'ulimit -n {hard} && exec "$@"', "_", *confined]
        shown = subprocess.check_output([*limits, "--", "bash", "-c", "ulimit -Hn"], text=True)
        assert shown == open_files
    refused = subprocess.run([*confined, "RLIMIT_CPU=x", "--", "true"], stdout=subprocess.PIPE)
    assert refused.returncode == sandbox.confined_process.CANNOT_CONFINE
    assert b"ValueError" in refused.stdout  # why, which is logged


def test_a_compilation_has_40_seconds_however_much_is_left(tmp_path, monkeypatch):
    """And twice as much of the processor."""

    def run_out(program, arguments, folder, timeout_s, *_):
        assert timeout_s <= 40.0
        raise sandbox.TimedOut

    compilers = fake(tmp_path, "ulimit -t > $0.seen; echo '{}'")
    assert run(compilers, "", timeout_s=60.0) == {}
    assert (tmp_path / "solc-0.8.28" / "solc-0.8.28.seen").read_text() == "81\n"
    monkeypatch.setattr(sandbox.Program, "run", run_out)
    # After compilations that have left three seconds it has had 60.
    for left_s, seconds in ((60.0, 40), (3.0, 60)):
        with pytest.raises(OutOfLimits, match=f"did not finish within {seconds} seconds"):
            compile_source(compilers.find(NEWEST), {}, left_s)


def test_only_few_requests_get_a_compiler_at_once():
    places, soon = CompilerPlaces(), time.monotonic() + 0.05
    with places.running(soon), places.running(soon):
        with pytest.raises(Unavailable) as refusal, places.running(soon):
            pass
        assert int(refusal.value.headers["Retry-After"]) > 0
    with places.running(time.monotonic()):
        pass
    clients = "abcd"
    with ExitStack() as admitted:
        for client in clients:
            admitted.enter_context(places.admitted(client))
        with pytest.raises(Unavailable), places.admitted("e"):
            pass
    with places.admitted("e"):
        with pytest.raises(Unavailable), places.admitted("e"):
            pass
        with places.admitted("a"):
            pass


def test_a_placed_compiler_that_was_changed_is_not_run(tmp_path):
    compilers = fake(tmp_path, "echo '{}'")
    compiler = compilers.find(NEWEST)
    executable = compiler.executable
    compiler_store.record_digest(executable.parent, executable.name)
    assert compilers.find(NEWEST) == compiler
    executable.write_text("#!/bin/sh\necho '[]'\n")
    with pytest.raises(Unavailable, match="damaged"):
        compilers.find(NEWEST)
