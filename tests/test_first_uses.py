"""What several threads or processes begin at once, and what a signal or a failed start leaves."""

import os
import socket
import subprocess
import sys
import threading

import pytest

from scan import deadlines
from scan.accounts.api_keys import KeyUsage
from scan.errors import ScanError
from scan.files import UNFINISHED, held_folder, whole_file, write_private
from scan.http.index_version import ReplicaPoller
from scan.outbound import allowed_urls
from tests.support import WAIT_S
from tests.support.serving import ROOT, no_thread_starts, wait_until

pytestmark = pytest.mark.check

# The main thread has the lock for some microseconds of each wait().
INTERRUPTED = """
import os, signal, threading
from scan.commands import startup
stop = threading.Event()
startup.on_stop_signals(stop.set)
with stop._cond:
    os.kill(os.getpid(), signal.SIGTERM)
assert stop.wait()
"""


def test_a_signal_stops_a_thread_that_is_about_to_wait():
    subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=ROOT, timeout=WAIT_S, check=True)


def test_a_deadline_that_has_just_passed_is_not_that_of_the_next_work():
    about_to_shut_down, goes_on = threading.Event(), threading.Event()
    ours, theirs = socket.socketpair()

    def descriptor():
        about_to_shut_down.set()
        goes_on.wait()
        return ours.fileno()

    with ours, theirs:
        deadline = deadlines.Deadline(descriptor)
        deadline.begin(0.0)
        about_to_shut_down.wait()
        was_shut_down = []
        ending = threading.Thread(
            target=lambda: (deadline.end(), was_shut_down.append(goes_on.is_set()))
        )
        ending.start()
        ending.join(0.2)
        goes_on.set()
        ending.join()
        assert was_shut_down == [True]
        assert deadline.is_late
        deadline.begin(60.0)
        assert not deadline.is_late
        deadline.end()
        deadline.begin(0.0)  # it is watched
        wait_until(lambda: deadline.is_late)
        deadline.release()


def _usage():
    usage = KeyUsage(None, flush_every_s=3600)

    def count():
        usage.count(1, 0.0)
        usage._requests.clear()  # so that nothing is written

    return "key-usage", count


def _poller():
    version = type("Idle", (), {"is_idle": True})
    return "replica-poller", ReplicaPoller(None, version).start


def _watcher():
    return "deadlines", deadlines._Watcher().start


@pytest.mark.parametrize("make", [_usage, _poller, _watcher])
def test_a_thread_that_could_not_start_is_started_by_the_next_use(make):
    name, use = make()
    before = [thread.name for thread in threading.enumerate()].count(name)
    with no_thread_starts(), pytest.raises(RuntimeError, match="thread"):
        use()
    use()
    use()
    assert [thread.name for thread in threading.enumerate()].count(name) == before + 1


def test_look_ups_that_could_not_start_hold_no_place(names):
    names["example.com"] = lambda _: ["1.1.1.1"]
    url, purpose = allowed_urls.parse("https://example.com/"), next(iter(allowed_urls.Purpose))
    with no_thread_starts():
        for _ in range(allowed_urls.MAX_LOOKUPS + 1):
            with pytest.raises(allowed_urls.NotResolved, match="thread"):
                allowed_urls.resolve(url, 1.0, purpose)
    assert len(allowed_urls.resolve(url, 60.0, purpose)) == 1


def test_each_of_those_who_write_a_file_at_once_writes_a_whole_one(tmp_path):
    path = tmp_path / "file [1]"
    with whole_file(path) as first:
        first.write(b"fi")
        with whole_file(path, 0o600) as second:
            second.write(b"second")
        assert path.read_bytes() == b"second"
        assert path.stat().st_mode & 0o777 == 0o600
        first.write(b"rst")
    assert path.read_bytes() == b"first"
    unfinished, pipe = (tmp_path / f".{path.name}.{number}{UNFINISHED}" for number in range(2))
    unfinished.touch()  # as by a process that was killed
    os.mkfifo(pipe)  # by another user, where all may write
    with pytest.raises(ZeroDivisionError), whole_file(path):
        assert not unfinished.exists()
        raise ZeroDivisionError
    assert path.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_is_written_where_a_link_leads_and_never_over_a_pipe(tmp_path):
    target, link, pipe = (tmp_path / name for name in ("target", "link", "pipe"))
    target.write_bytes(b"old")
    link.symlink_to(target)
    with whole_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"
    os.mkfifo(pipe)
    link.unlink()
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(OSError, match="it is not a regular file"), whole_file(path):
            pytest.fail("it is replaced")
    assert pipe.is_fifo()
    assert link.is_symlink()
    link.unlink()
    link.symlink_to(target)
    write_private(link, "own", owner=tmp_path.stat())  # as root does in another user's folder
    assert (link.is_symlink(), target.read_bytes(), link.read_bytes()) == (False, b"new", b"own")


def test_one_process_at_a_time_works_in_a_folder(tmp_path):
    folder = tmp_path / "made" / "folder"
    with held_folder(folder):
        with pytest.raises(ScanError, match="Another process works in"), held_folder(folder):
            pytest.fail("both work")
        with held_folder(tmp_path):
            waiting = threading.Thread(target=held_folder(folder, waits=True).__enter__)
            waiting.start()
            waiting.join(0.1)
            assert waiting.is_alive()
    waiting.join()
