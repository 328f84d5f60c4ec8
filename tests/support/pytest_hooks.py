"""How a run goes: its options, its workers, the order of its tests, and how it ends."""

import gc
import logging
import os
import pickle
import signal
import threading

import hypothesis
import psutil
import pytest

from scan import registry
from tests.support import anvil, compile_server, database, extension_tests, scheduling

SHARED_NODE = pytest.StashKey[anvil.Anvil]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return scheduling.OwnTests(config, log)


def pytest_ignore_collect(collection_path, config):
    """Leave out what another worker collects, and tests that use an extension which is deleted."""
    if scheduling.is_left_out(collection_path, config):
        return True
    if not (collection_path.match("test_*.py") and "extensions" in collection_path.parts):
        return None
    return True if extension_tests.used_by(collection_path) - registry.installed().keys() else None


def pytest_addoption(parser):
    shuffled = "the order of files and tests, and what they draw at random"
    parser.addoption("--shuffle", metavar="SEED", help=shuffled)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """The process that starts the workers starts the node they share, and the compilers, which end
    with it."""
    shared = node.config.stash
    if SHARED_NODE not in shared:
        os.environ[compile_server.SHARED] = str(compile_server.compile_requests())
        database.make_system_user()
        shared[SHARED_NODE] = anvil.Anvil()
    node.workerinput["scenario_node"] = pickle.dumps(shared[SHARED_NODE])


def pytest_unconfigure(config):
    if SHARED_NODE in config.stash:
        config.stash[SHARED_NODE].stop()


def pytest_collection_finish():
    """What was made meanwhile stays, so garbage collection need not look at it. Tests make objects
    by the ten thousand, of which few stay: they are looked at when there are 20,000, not 700. With
    the defaults that took an eighth of a worker's time."""
    gc.freeze()
    gc.set_threshold(20_000, 20)


def pytest_sessionfinish():
    """Threads of applications whose database is gone by now have the last word otherwise."""
    logging.disable()
    gc.unfreeze()  # or nanobind prints 100 lines of what DuckDB did not free


@pytest.hookimpl(tryfirst=True)  # hypothesis looks at its seed afterwards
def pytest_configure(config):
    """A terminated run ends as an interrupted one does: with its servers, those of workers too.
    Without the long tests 30 examples are tried, with them 100: the same in each run, and others
    with another --shuffle. No test asserts a time, so none has hypothesis look at the clock."""
    config.option.hypothesis_seed = config.option.hypothesis_seed or config.getoption("shuffle")
    hypothesis.settings.register_profile(
        "scan",
        deadline=None,
        max_examples=100 if config.getoption("markexpr") in ("", "long") else 30,
        derandomize=config.option.hypothesis_seed is None,
    )
    hypothesis.settings.load_profile("scan")
    config.args = scheduling.own_arguments(config)
    has_workers = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    signal.signal(signal.SIGTERM, _end_workers if has_workers else _end)


@pytest.fixture
def caplog(caplog):
    """Without what threads log that earlier tests have left, such as of an application whose
    database is gone."""
    earlier = {*threading.enumerate()} - {threading.current_thread()}

    def is_of_test(_record):  # not by ident: a thread's is given to a later one when it has ended
        return threading.current_thread() not in earlier

    caplog.handler.addFilter(is_of_test)
    yield caplog
    caplog.handler.removeFilter(is_of_test)


def _end(*_):
    pytest.exit("terminated", returncode=pytest.ExitCode.INTERRUPTED)


def _end_workers(*_):
    """Each ends its servers and reports it was interrupted, which ends the run."""
    for worker in psutil.Process().children():
        worker.terminate()


def pytest_collection_modifyitems(config, items):
    if seed := config.getoption("shuffle"):
        items[:] = scheduling.shuffled(items, seed)
