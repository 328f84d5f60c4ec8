"""What tests stand on: PostgreSQL and anvil, both real, and the scenario played once."""

import atexit
import gc
import logging
import multiprocessing
import os
import pickle
import random
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import psutil
import pytest
from flask.testing import FlaskClient
from werkzeug.serving import make_server

import tests.support.clean_environment  # noqa: F401
from app import RECURSION_LIMIT, create_app
from bench.seed import seed
from scan.contracts import account_state
from scan.ethereum import served_chain
from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute, make_system_user, name_in, read_only
from tests.support.explain import Explained, explained
from tests.support.explorer import Explorer, compiling_once, explorer_over, place_compilers
from tests.support.folders import run_folder
from tests.support.indexing import Indexing
from tests.support.kept_answers import kept_answers
from tests.support.many_functions import MANY, verified
from tests.support.openapi_document import Watch
from tests.support.receiver import Authority, Receiver, running
from tests.support.renewal import renewing
from tests.support.scenario import play
from tests.support.scenario.contracts import purses
from tests.support.scenario.stage import Stage
from tests.support.scheduling import FixedScheduling, shuffled
from tests.support.serving import NOT_INSTALLED, ROOT, gunicorn, in_thread, wait_until
from tests.support.solidity import alone
from tests.support.table_digest import Digest, explain
from tests.support.truth import Truth, read_truth
from tests.support.webhooks import Webhooks

SHARED_NODE = pytest.StashKey[Anvil]()


class Played(NamedTuple):
    """The scenario's chain and what the API must answer; tests read it, none adds to it."""

    anvil: Anvil
    stage: Stage
    truth: Truth


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> FixedScheduling:
    return FixedScheduling(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--shuffle",
        metavar="SEED",
        help="the order of files and tests, and what they draw at random",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """The process that starts the workers starts the node they share, which ends with it."""
    shared = node.config.stash
    if SHARED_NODE not in shared:
        make_system_user()
        shared[SHARED_NODE] = Anvil()
    node.workerinput["scenario_node"] = pickle.dumps(shared[SHARED_NODE])


def pytest_unconfigure(config: pytest.Config) -> None:
    if SHARED_NODE in config.stash:
        config.stash[SHARED_NODE].stop()


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """What is made while tests are collected stays, so garbage collection need not look at it: in a
    worker that took 1.3 s meanwhile, and 3 % of the processor's time afterwards."""
    gc.disable()
    try:
        _import_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_share(config: pytest.Config) -> None:
    """Each worker begins with other files, since all collect the same ones in the same order: in a
    new clone each would rewrite all assertions, where now it reads the bytecode of the others."""
    if "workerinput" not in vars(config):
        return
    worker = config.workerinput
    tests = ROOT / "tests"
    files = sorted([*tests.glob("test_*.py"), *tests.glob("*/test_*.py")])
    for file in files[int(worker["workerid"].removeprefix("gw")) :: worker["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # collecting the file reports it
            import_module(".".join(file.relative_to(ROOT).with_suffix("").parts))


def pytest_sessionfinish() -> None:
    """Threads of applications whose database is gone by now have the last word otherwise."""
    logging.disable()
    gc.freeze()  # pytest collects five times at the end, which takes each worker 2 s
    # Or nanobind prints 100 lines after pytest's summary, of what DuckDB did not free.
    atexit.register(gc.unfreeze)


@pytest.hookimpl(tryfirst=True)  # hypothesis looks at its seed afterwards
def pytest_configure(config: pytest.Config) -> None:
    """A terminated run ends as an interrupted one does: with its servers, those of workers too."""
    _configure_hypothesis(config)
    has_workers = not hasattr(config, "workerinput") and config.getoption("numprocesses", None)
    signal.signal(signal.SIGTERM, _end_workers if has_workers else _end)


def _configure_hypothesis(config: pytest.Config) -> None:
    """Without the long tests 30 examples are tried, with them 100: the same in each run, and others
    with another --shuffle. No test asserts a time, so none has hypothesis look at the clock."""
    is_whole = config.getoption("markexpr") in ("", "long")
    config.option.hypothesis_seed = config.option.hypothesis_seed or config.getoption("shuffle")
    hypothesis.settings.register_profile(
        "scan",
        deadline=None,
        max_examples=100 if is_whole else 30,
        derandomize=config.option.hypothesis_seed is None,
    )
    hypothesis.settings.load_profile("scan")


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    if op == "==" and isinstance(left, Digest) and isinstance(right, Digest):
        return explain(left, right)
    return None


@pytest.hookimpl(wrapper=True, tryfirst=True)  # below everything but the line of totals
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter,
) -> Generator[None, None, None]:
    """Names the tests that were left out since programs are missing, and what installs those."""
    yield
    reasons = [r.longrepr[2] for r in terminalreporter.stats.get("skipped", ())]
    left_out = [reason for reason in reasons if reason.endswith(NOT_INSTALLED)]
    if left_out:
        names = sorted({r.removeprefix("Skipped: ").removesuffix(NOT_INSTALLED) for r in left_out})
        terminalreporter.section("left out", yellow=True)
        terminalreporter.line(f"{len(left_out)} tests, which need {', '.join(names)}. To install:")
        terminalreporter.line("    sudo tests/support/install_servers")


def _end(*_: object) -> None:
    pytest.exit("terminated", returncode=pytest.ExitCode.INTERRUPTED)


def _end_workers(*_: object) -> None:
    """Each ends its servers and reports it was interrupted, which ends the run."""
    for worker in psutil.Process().children():
        worker.terminate()


# Fixtures that start servers; what uses one is no part of `make check` by the mark of its file.
COSTLY = {"postgres", "own_postgres", "anvil", "scenario", "demo_node", "solc_dir"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
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
        items[:] = shuffled(items, seed)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with Postgres() as server:
        yield server


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[Postgres]:
    """A server of the file's own, which its tests may stop."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="session")
def template(postgres: Postgres) -> str:
    return postgres.make_template()


@pytest.fixture(scope="session")
def seeded_template(postgres: Postgres, template: str) -> Iterator[str]:
    """The name of a database of 50,000 transactions, which query plans are about."""
    with postgres.cloned(template) as url:
        seed(url, 50_000, internal_transfers=True, logs=True, user_operations=True)
        wait_until(lambda: _is_vacuumed(url))
        yield name_in(url)


def _is_vacuumed(url: str) -> bool:
    """Vacuum, and return whether scans of indexes alone need no table: not where statistics were
    made at the same time, as autovacuum does when it will."""
    execute(url, "VACUUM")
    [(is_whole,)] = execute(
        url,
        "SELECT bool_and(relallvisible = relpages) FROM pg_class"
        " WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
    )
    return bool(is_whole)


@pytest.fixture(scope="session")
def seeded_service(postgres: Postgres, seeded_template: str) -> Iterator[Explained]:
    """A service over these transactions, which can only be read; its statements are explained."""
    with postgres.cloned(seeded_template) as url, read_only(url), explained(url) as service:
        yield service


@pytest.fixture
def own_seeded_service(postgres: Postgres, seeded_template: str) -> Iterator[Explained]:
    """The same over a copy of the test's own, which may write."""
    with postgres.cloned(seeded_template) as url, explained(url) as service:
        yield service


@pytest.fixture
def database_url(postgres: Postgres, template: str) -> Iterator[str]:
    """An empty database with the schema, for this test alone."""
    with postgres.cloned(template) as url:
        yield url


@pytest.fixture(scope="module")
def shared_database_url(postgres: Postgres, template: str) -> Iterator[str]:
    """A database of the file's tests, which mind nothing that others have added."""
    with postgres.cloned(template) as url:
        yield url


@pytest.fixture(scope="module")
def shared_server(shared_database_url: str) -> Iterator[str]:
    """gunicorn on that database; requests and new keys are not limited in fact."""
    environment = {
        "SCAN_RATE_LIMIT_ANONYMOUS": "100000/minute",
        "SCAN_RATE_LIMIT_PAGES": "100000/minute",
        "SCAN_RATE_LIMIT_NEW_KEYS": "100000/day",
        "SCAN_RATE_LIMIT_ADDRESS": "100000/minute",
    }
    with gunicorn(shared_database_url, **environment) as address:
        yield address


@pytest.fixture
def anvil() -> Iterator[Anvil]:
    """A node of the test's own, at its genesis block."""
    with Anvil() as node:
        yield node


@pytest.fixture(scope="session")
def scenario(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Played]:
    """The workers of a run share a node, on which the first of them plays, and its answers."""
    folder = run_folder(tmp_path_factory)
    shared = getattr(request.config, "workerinput", {}).get("scenario_node")
    if shared is None:
        with Anvil() as node, kept_answers(node.url, folder / "answers"):
            yield _played(node)
    else:
        kept = folder / "scenario"
        with alone(kept):
            if not kept.exists():
                kept.write_bytes(pickle.dumps(_played(pickle.loads(shared))))
        played = pickle.loads(kept.read_bytes())
        with kept_answers(played.anvil.url, folder / "answers"):
            yield played


def _played(node: Anvil) -> Played:
    stage = play(node)
    purses(stage)
    truth = read_truth(node)
    node.share()
    return Played(node, stage, truth)


@pytest.fixture(scope="session")
def compilers_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return place_compilers(tmp_path_factory.mktemp("compilers"))


@pytest.fixture(scope="session")
def solc_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compilers that compile the same input once in a run, whichever worker has it."""
    compilers = place_compilers(tmp_path_factory.mktemp("unpacked"), unpacked=True)
    outputs = run_folder(tmp_path_factory) / "solc-outputs"
    return compiling_once(compilers, tmp_path_factory.mktemp("solc"), outputs)


@pytest.fixture(scope="module")
def explorer(postgres: Postgres, template: str, solc_dir: Path) -> Iterator[Explorer]:
    """The whole service over a chain to which the tests of the file may add contracts."""
    with explorer_over(postgres, template, solc_dir) as found, found.running_jobs():
        yield found


@pytest.fixture(scope="module")
def own_explorer(postgres: Postgres, template: str, solc_dir: Path) -> Iterator[Explorer]:
    """A chain of the file's own, without a runner of verification jobs: servers have theirs."""
    with explorer_over(postgres, template, solc_dir) as found:
        yield found


@pytest.fixture(scope="module")
def many(explorer: Explorer) -> str:
    return verified(explorer, MANY, "Many")


@pytest.fixture(scope="session")
def indexed_template(postgres: Postgres, template: str, scenario: Played) -> Iterator[str]:
    """The name of a database with the scenario's chain and everything derived from it."""
    with postgres.cloned(template) as url:
        Indexing(url, scenario.anvil.url).run_until(scenario.anvil.head())
        yield name_in(url)


@pytest.fixture(scope="session")
def indexed(postgres: Postgres, indexed_template: str, scenario: Played) -> Iterator[Indexing]:
    """A copy of that database, which can only be read."""
    with postgres.cloned(indexed_template) as url, read_only(url):
        yield Indexing(url, scenario.anvil.url)  # which does not follow it


@pytest.fixture(scope="module")
def own_index(postgres: Postgres, indexed_template: str, scenario: Played) -> Iterator[Indexing]:
    """A copy for the file's tests, which may write: servers refuse one that can only be read."""
    node = scenario.anvil
    with (
        postgres.cloned(indexed_template) as url,
        Indexing(url, node.url, until=node.head()) as indexing,
    ):
        yield indexing


@pytest.fixture(scope="session")
def client(indexed: Indexing) -> FlaskClient:
    """Asks the API over the scenario's chain."""
    return create_app(indexed.settings).test_client()


@pytest.fixture(scope="session")
def over_http(client: FlaskClient) -> Iterator[str]:
    """The same over a socket; its address."""
    with in_thread(make_server("127.0.0.1", 0, client.application, threaded=True)) as url:
        yield url


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def receiver(authority: Authority) -> Iterator[Receiver]:
    """An HTTPS server on loopback that answers 204 until its behaviour is changed."""
    with running(Receiver(*authority.certificate("localhost"))) as server:
        yield server


@pytest.fixture
def webhooks(database_url: str, authority: Authority) -> Iterator[Webhooks]:
    """The API on an empty chain, which may send webhooks to loopback."""
    found = Webhooks(database_url, authority.bundle)
    yield found
    found.close()


@pytest.fixture(scope="session", autouse=True)
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """What writes into SCAN_DATA_DIR without a folder of its own has this worker's, not `var`,
    which other workers would share with it, and with a `make run` of the same checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCAN_DATA_DIR", str(folder := tmp_path_factory.mktemp("var")))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """What a response says of an account's state and of the length of a list, and which requests a
    node receives, does not follow from how busy the machine is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(account_state, "TIMEOUT_S", 2.5)  # instead of 0.5
        patch.setattr(served_chain, "CHECK_AGAIN_S", 600.0)  # instead of 5
        if find_spec("scan.extensions.logs"):
            patch.setattr("scan.extensions.logs.node_logs.COUNT_S", 30.0)  # instead of 2
        yield


@pytest.fixture(scope="session", autouse=True)
def forked_workers() -> Iterator[None]:
    """What this process has multiprocessing spawn is forked from a process that has its imports,
    which take 0.6 s of processor; commands that tests start spawn theirs."""
    plainly, forking = multiprocessing.get_context, multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload(["__main__", "scan.extensions.backfill.spool"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            multiprocessing,
            "get_context",
            lambda method=None: forking if method == "spawn" else plainly(method),
        )
        yield


@pytest.fixture(scope="session")
def renew_served() -> Iterator[Callable[[], None]]:
    with renewing() as renew:
        yield renew


@pytest.fixture(autouse=True)
def process_state(
    request: pytest.FixtureRequest, renew_served: Callable[[], None]
) -> Iterator[None]:
    """Applications begin each test as new ones, and what a command sets for its process ends with
    the test that runs it: umask, log handlers, environment, folder, and what signals do. What is
    drawn at random follows from --shuffle and the test alone."""
    renew_served()
    random.seed(f"{request.config.getoption('shuffle')} {request.node.nodeid}")
    sys.setrecursionlimit(RECURSION_LIMIT)  # eth-account raises it, whoever imports it
    root, mask = logging.getLogger(), os.umask(0o022)
    os.umask(mask)
    handlers, level = root.handlers[:], root.level
    environment, folder = dict(os.environ), Path.cwd()
    on_signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    os.umask(mask)
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)
    os.chdir(folder)
    for number, handler in on_signals.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def documented_answers() -> Iterator[None]:
    """Whatever a test asks about, the answer has to be one that the OpenAPI document describes."""
    watch, plainly = Watch(), FlaskClient.open

    def open_and_look(client: FlaskClient, *arguments: Any, **more: Any) -> Any:
        answer = plainly(client, *arguments, **more)
        watch.look(answer.request.method, answer.request.path, answer)
        return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FlaskClient, "open", open_and_look)
        yield
