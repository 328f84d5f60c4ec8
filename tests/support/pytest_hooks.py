"""How a run goes: its options, its workers, the order of its tests, and how it ends."""

import atexit
import gc
import logging
import os
import pickle
import signal
import threading

import hypothesis
import psutil
import pytest

from tests.support import anvil, compile_server, database, scheduling, tiers
from tests.support.serving import NOT_INSTALLED
from tests.support.table_digest import Digest, explain

# Tests make objects by the ten thousand, of which few stay. New ones are looked at when there are
# 20,000, not 700, what stays 20 times later, and all of them between files: by default that took an
# eighth of a worker's time.
GC_THRESHOLDS = (20_000, 20, 1000)
COLLECTIONS_OF_FILES = 2
SHARED_NODE = pytest.StashKey[anvil.Anvil]()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return scheduling.OwnTests(config, log)


def pytest_ignore_collect(collection_path, config):
    return True if scheduling.is_left_out(collection_path, config) else None


def pytest_addoption(parser):
    parser.addoption(
        "--shuffle",
        metavar="SEED",
        help="the order of files and tests, and what they draw at random",
    )
    parser.addoption(
        "--shard", metavar="I/N", type=scheduling.shard, help="the Ith of N parts of the files"
    )


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


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What is made while tests are collected stays, so garbage collection need not look at it: in a
    worker that took 1.3 s meanwhile, and 3 % of the processor's time afterwards."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """After a file, what its tests have left goes, and what stays is not looked at again."""
    result = yield
    is_last = nextitem is None or nextitem.path != item.path
    if is_last and gc.get_count()[2] >= COLLECTIONS_OF_FILES:
        gc.collect()
        gc.freeze()
    return result


def pytest_sessionfinish():
    """Threads of applications whose database is gone by now have the last word otherwise."""
    logging.disable()
    gc.freeze()  # pytest collects five times at the end, which takes each worker 2 s
    # Or nanobind prints 100 lines after pytest's summary, of what DuckDB did not free.
    atexit.register(gc.unfreeze)


@pytest.hookimpl(tryfirst=True)  # hypothesis looks at its seed afterwards
def pytest_configure(config):
    """A terminated run ends as an interrupted one does: with its servers, those of workers too."""
    _configure_hypothesis(config)
    config.args = scheduling.own_arguments(config)
    signal.signal(signal.SIGTERM, _end_workers if scheduling.has_workers(config) else _end)


def _configure_hypothesis(config):
    """Without the long tests 30 examples are tried, with them 100: the same in each run, and others
    with another --shuffle. No test asserts a time, so none has hypothesis look at the clock."""
    is_whole = "long" in tiers.tiers_of_run(config.getoption("markexpr"))
    config.option.hypothesis_seed = config.option.hypothesis_seed or config.getoption("shuffle")
    hypothesis.settings.register_profile(
        "scan",
        deadline=None,
        max_examples=100 if is_whole else 30,
        derandomize=config.option.hypothesis_seed is None,
    )
    hypothesis.settings.load_profile("scan")


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


def pytest_assertrepr_compare(op, left, right):
    if op == "==" and isinstance(left, Digest) and isinstance(right, Digest):
        return explain(left, right)
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # below everything but the line of totals
def pytest_terminal_summary(terminalreporter):
    """Names the tests that were left out since programs are missing, and what installs those."""
    yield
    reasons = [r.longrepr[2] for r in terminalreporter.stats.get("skipped", ())]
    left_out = [reason for reason in reasons if reason.endswith(NOT_INSTALLED)]
    if left_out:
        names = sorted({r.removeprefix("Skipped: ").removesuffix(NOT_INSTALLED) for r in left_out})
        terminalreporter.section("left out", yellow=True)
        terminalreporter.line(f"{len(left_out)} tests, which need {', '.join(names)}. To install:")
        terminalreporter.line("    sudo tests/support/install_servers")


def _end(*_):
    pytest.exit("terminated", returncode=pytest.ExitCode.INTERRUPTED)


def _end_workers(*_):
    """Each ends its servers and reports it was interrupted, which ends the run."""
    for worker in psutil.Process().children():
        worker.terminate()


# Fixtures that start servers; what uses one is no part of `make check` by the mark of its file.
COSTLY = {"postgres", "own_postgres", "anvil", "scenario", "demo_node", "solc_dir"}


def pytest_collection_modifyitems(config, items):
    """Files with long tests begin, so that none of them runs alone at the end."""
    costly = [
        f"{item.nodeid} is marked check and uses {', '.join(sorted(used))}"
        for item in items
        if item.get_closest_marker("check")
        and (used := COSTLY & set(getattr(item, "fixturenames", ())))
    ]
    if costly:
        raise pytest.UsageError("\n".join(costly))
    with_long_tests = {item.path for item in items if item.get_closest_marker("long")}
    items.sort(key=lambda item: item.path not in with_long_tests)
    if seed := config.getoption("shuffle"):
        items[:] = scheduling.shuffled(items, seed)
