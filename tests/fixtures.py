"""What tests stand on: PostgreSQL and anvil, both real, and the scenario played once."""

import logging
import multiprocessing
import os
import pickle
import random
import re
import signal
import sys
from collections import namedtuple
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import tests.support.clean_environment  # noqa: F401
from app import RECURSION_LIMIT, create_app, renew
from bench.seed import seed
from scan.ethereum.request_node import NodeSession
from scan.http.application import Application
from scan.outbound import allowed_urls
from tests.support.anvil import Anvil
from tests.support.database import OLDEST, Postgres, execute, name_in, read_only
from tests.support.explain import explained
from tests.support.explorer import compiling_in_server, place_compilers
from tests.support.faulty_node import FaultyNode
from tests.support.folders import open_folder, run_folder  # noqa: F401  # a fixture
from tests.support.foundry import Foundry, served_over
from tests.support.indexing import Indexing
from tests.support.kept_answers import kept_answers
from tests.support.made_blocks import chain, database  # noqa: F401  # fixtures
from tests.support.many_functions import MANY, verified
from tests.support.openapi_document import Watch
from tests.support.receiver import Authority, Receiver, running
from tests.support.scenario import contracts, play
from tests.support.serving import gunicorn, serving, wait_until
from tests.support.solidity import alone
from tests.support.truth import read_truth
from tests.support.vyper import Vyper
from tests.support.webhooks import Webhooks
from tests.support.world import World, explorer_over

pytest_plugins = ["tests.support.pytest_hooks", "tests.support.page_fixtures"]


VYPERS = Path(sys.prefix) / "vyper-of-tests"


class Played(namedtuple("Played", "anvil stage truth")):
    """The scenario's chain and what the API must answer; tests read it, none adds to it."""


@pytest.fixture(scope="session")
def postgres():
    with Postgres() as server:
        yield server


@pytest.fixture(scope="module")
def own_postgres():
    """A server of the file's own, which its tests may stop."""
    with Postgres() as server:
        yield server


@pytest.fixture(scope="module")
def oldest_postgres():
    """PostgreSQL 16, the oldest that Scan takes; the wheel has it beside the embedded one."""
    with Postgres(programs=OLDEST) as server:
        yield server


@pytest.fixture(scope="session")
def template(postgres):
    return postgres.make_template()


@pytest.fixture(scope="session")
def seeded_template(postgres, template):
    """The name of a database of 50,000 transactions, which query plans are about."""
    with postgres.cloned(template) as url:
        seed(url, 50_000, internal_transfers=True, logs=True, user_operations=True)
        wait_until(lambda: _is_vacuumed(url))
        yield name_in(url)


def _is_vacuumed(url):
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
def seeded_service(postgres, seeded_template):
    """A service over these transactions, which can only be read; its statements are explained."""
    with postgres.cloned(seeded_template) as url, read_only(url), explained(url) as service:
        yield service


@pytest.fixture
def own_seeded_service(postgres, seeded_template):
    """The same over a copy of the test's own, which may write."""
    with postgres.cloned(seeded_template) as url, explained(url) as service:
        yield service


@pytest.fixture
def database_url(postgres, template):
    """An empty database with the schema, for this test alone."""
    with postgres.cloned(template) as url:
        yield url


@pytest.fixture
def clone(postgres):
    """Copies a database, which may be a template, by its name, and returns the copy's address."""
    with ExitStack() as copies:
        yield lambda name: copies.enter_context(postgres.cloned(name))


@pytest.fixture(scope="module")
def oldest_database_url(oldest_postgres):
    """The same of PostgreSQL 16, for the tests of a file."""
    with oldest_postgres.cloned(oldest_postgres.make_template()) as url:
        yield url


@pytest.fixture(scope="module")
def shared_database_url(postgres, template):
    """A database of the file's tests, which mind nothing that others have added."""
    with postgres.cloned(template) as url:
        yield url


@pytest.fixture(scope="module")
def shared_server(shared_database_url):
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
def anvil():
    """A node of the test's own, at its genesis block."""
    with Anvil() as node:
        yield node


@pytest.fixture(scope="module")
def shared_anvil():
    """A node for the tests of a file."""
    with Anvil() as node:
        yield node


@pytest.fixture
def node(anvil):
    """Before the test's own chain: it fails as the test says."""
    with FaultyNode(anvil.url) as proxy:
        yield proxy


@pytest.fixture
def scenario_node(scenario):
    """The same before the scenario's."""
    with FaultyNode(scenario.anvil.url) as proxy:
        yield proxy


@pytest.fixture
def places(database_url, postgres, template, tmp_path):
    """Where a world has its index, and others of its chain."""
    return database_url, postgres, template, tmp_path


@pytest.fixture
def world(anvil, places):
    """A chain of the test's own, and its index."""
    with World(anvil, places) as world:
        yield world


@pytest.fixture(scope="session")
def scenario(request, tmp_path_factory):
    """The workers of a run share a node, on which the first of them plays, and its answers."""
    folder = run_folder(tmp_path_factory)
    shared = getattr(request.config, "workerinput", {}).get("scenario_node")
    if shared is None:
        with Anvil() as node, kept_answers(node.url, folder / "answers"):
            yield _played(node)
    else:
        path = folder / "scenario"
        with alone(path):
            if not path.exists():
                path.write_bytes(pickle.dumps(_played(pickle.loads(shared))))
        played = pickle.loads(path.read_bytes())
        with kept_answers(played.anvil.url, folder / "answers"):
            yield played


@pytest.fixture(scope="session")
def truth(scenario):
    return scenario.truth


def _played(node):
    stage = play(node)
    contracts.purses(stage)
    played = Played(node, stage, read_truth(node))
    node.share()
    return played


@pytest.fixture(scope="session")
def compilers_dir(tmp_path_factory):
    return place_compilers(tmp_path_factory.mktemp("compilers"))


@pytest.fixture(scope="session")
def solc_dir(tmp_path_factory):
    """Compilers that compile the same input once, whichever run and worker has it."""
    compilers = place_compilers(tmp_path_factory.mktemp("solc"), unpacked=True)
    with compiling_in_server(compilers):
        yield compilers


@pytest.fixture(scope="session")
def vyper(solc_dir):
    """Vyper's compilers, beside those of `solc_dir`: in the environment, since they are Python."""
    return Vyper(VYPERS, solc_dir)


@pytest.fixture(scope="module")
def explorer(postgres, template, solc_dir):
    """The whole service over a chain to which the tests of the file may add contracts."""
    with explorer_over(postgres, template, solc_dir) as service:
        yield service


@pytest.fixture
def running_jobs(explorer):
    """Submitted verifications run, and creations are compared, until the test is over."""
    with explorer.running_jobs():
        yield


@pytest.fixture(scope="module")
def own_explorer(postgres, template, solc_dir):
    """A second chain, or one that is served by servers alone."""
    with explorer_over(postgres, template, solc_dir) as service:
        yield service


@pytest.fixture(scope="module")
def many(explorer):
    return verified(explorer, MANY, "Many")


@pytest.fixture(scope="module")
def served(own_explorer, solc_dir):
    """A server as it is run, for tools that verify through the APIs of other explorers."""
    limits = "SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_ADDRESS"
    with served_over(own_explorer, solc_dir, **dict.fromkeys(limits, "10000/minute")) as server:
        yield server


@pytest.fixture
def limited(own_explorer, solc_dir):
    """With the limits that it has by default."""
    with served_over(own_explorer, solc_dir) as server:
        yield server


@pytest.fixture
def foundry(tmp_path, solc_dir):
    return Foundry(tmp_path, solc_dir)


@pytest.fixture(scope="session")
def indexed_template(postgres, template, scenario):
    """The name of a database with the scenario's chain and everything derived from it."""
    with postgres.cloned(template) as url:
        Indexing(url, scenario.anvil.url).run_until(scenario.anvil.head())
        # Else what pages say of the node's head would depend on when they are read.
        execute(url, "UPDATE indexer_status SET checked_at = checked_at - interval '1 hour'")
        yield name_in(url)


@pytest.fixture(scope="session")
def indexed(postgres, indexed_template, scenario):
    """A copy of that database, which can only be read."""
    with postgres.cloned(indexed_template) as url, read_only(url):
        yield Indexing(url, scenario.anvil.url)  # which does not follow it


@pytest.fixture(scope="session")
def indexed_without_bodies(postgres, indexed_template, scenario):
    """The scenario's index as it is with SCAN_BODIES=off."""
    with postgres.cloned(indexed_template) as url:
        execute(url, "DELETE FROM block_bodies; DELETE FROM bodies_from")
        with read_only(url):
            yield Indexing(url, scenario.anvil.url)


@pytest.fixture(scope="module")
def own_index(postgres, indexed_template, scenario):
    """A copy for the file's tests, which may write: servers refuse one that can only be read."""
    node = scenario.anvil
    with (
        postgres.cloned(indexed_template) as url,
        Indexing(url, node.url, until=node.head()) as indexing,
    ):
        yield indexing


@pytest.fixture(scope="session")
def client(indexed):
    """Asks the API over the scenario's chain."""
    return create_app(indexed.settings).test_client()


@pytest.fixture(scope="session")
def over_http(client):
    """The same over a socket; its address."""
    with serving(client.application) as url:
        yield url


@pytest.fixture
def names(monkeypatch):
    """What names lead to is chosen by the test: by a name, what gives the addresses of it and of
    the names below it, as texts. No name server is needed."""
    chosen, resolver = {}, allowed_urls.lookup

    def lookup(host, port):
        for name, addresses in chosen.items():
            if f".{host}".endswith(f".{name}"):
                return [ip_address(text) for text in addresses(host)]
        return resolver(host, port)

    monkeypatch.setattr(allowed_urls, "lookup", lookup)
    return chosen


@pytest.fixture
def public_names(names):
    """example.com is a public address."""
    names["example.com"] = lambda _: ["93.184.215.14"]


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def receiver(authority):
    """An HTTPS server on loopback that answers 204 until its behaviour is changed."""
    with running(Receiver(*authority.certificate("localhost"))) as server:
        yield server


@pytest.fixture
def webhooks(database_url, authority):
    """The API on an empty chain, which may send webhooks to loopback."""
    webhooks = Webhooks(database_url, authority.bundle)
    yield webhooks
    webhooks.close()


@pytest.fixture(scope="session", autouse=True)
def data_dir(tmp_path_factory):
    """What writes into SCAN_DATA_DIR without a folder of its own has this worker's, not `var`,
    which other workers would share with it, and with a `make run` of the same checkout."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCAN_DATA_DIR", str(folder := tmp_path_factory.mktemp("var")))
        yield folder


# After which a response lacks something, and how long that takes in tests instead, in seconds.
PATIENCE = {
    "scan.contracts.abi_decoding.PROCESSOR_S": 10.0,  # instead of 0.5
    "scan.contracts.read_calls.FACETS_S": 10.0,  # 0.5
    "scan.ethereum.request_node.BUDGET_S": 40.0,  # 6
    "scan.ethereum.served_chain.CHECK_AGAIN_S": 600.0,  # 5
    "scan.extensions.blockscout.decoded_objects.READ_S": 40.0,  # 2
    "scan.extensions.items.queries.THUMBNAILS_S": 10.0,  # 0.25
    "scan.extensions.logs.unstored_logs.LogBounds.count_s": 30.0,  # 2
    "scan.extensions.names.gateways.TOTAL_S": 8.0,  # 2
    "scan.extensions.names.normalization.Normalizer.answer_s": 120.0,  # 4
}
TIMES_OF_NODE = 10.0
EXPLANATIONS = "scan.extensions.explanations"
# Tracers in JavaScript that end themselves after so many milliseconds.
TRACERS = {
    "transactions.failing_steps": ("TRACER", "SIMULATION_TRACER"),
    "storage.mapping_keys": ("TRACER",),
}


@pytest.fixture(scope="session", autouse=True)
def patience():
    """What responses say, and which requests a node receives, does not follow from how busy the
    machine is: each wait on the node is as long as TIMES_OF_NODE, that of a test of one as well."""
    within = NodeSession.within
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            NodeSession, "within", lambda session, wait_s: within(session, TIMES_OF_NODE * wait_s)
        )
        for constant, seconds in PATIENCE.items():
            extension = constant.split(".")[2]
            if "extensions" not in constant or find_spec(f"scan.extensions.{extension}"):
                patch.setattr(constant, seconds)
        for module, names in TRACERS.items() if find_spec(EXPLANATIONS) else ():
            for name in names:
                tracer = getattr(import_module(f"{EXPLANATIONS}.{module}"), name)
                patient = re.sub(r"(this\.began > )[0-9]+", r"\g<1>60000", tracer["tracer"])
                assert patient != tracer["tracer"]
                patch.setitem(tracer, "tracer", patient)
        yield


@pytest.fixture
def short_pauses(monkeypatch):
    """A node that failed is asked again in a moment, not in up to ten seconds."""
    of_errors = ("node_errors.MAX_PAUSE_S", "node_errors.REFUSAL_PAUSE_S")
    for pause in ("client.REST_AFTER_FAILURE_S", *of_errors):
        monkeypatch.setattr(f"scan.ethereum.{pause}", 0.05)


@pytest.fixture
def read_once(monkeypatch):
    """A lie is told whenever it is asked for: to read it again takes time alone."""
    monkeypatch.setattr("scan.indexer.node_reader.READS", 1)


@pytest.fixture
def chain_always_checked(monkeypatch):
    """With each request it is looked whether the node serves the right chain."""
    monkeypatch.setattr("scan.ethereum.served_chain.CHECK_AGAIN_S", 0.0)


@pytest.fixture(scope="session", autouse=True)
def forked_workers():
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
def served_applications():
    """Those that have served since they were last renewed."""
    applications, plainly = set(), Application.__call__

    def call(application, environ, start_response):
        applications.add(application)
        return plainly(application, environ, start_response)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Application, "__call__", call)
        yield applications


@pytest.fixture(autouse=True)
def process_state(request, served_applications):
    """Applications begin each test as new ones: what one has cached, counted and learnt of its
    database and node is gone in 2 ms. What a command sets for its process ends with the test that
    runs it: umask, log handlers, environment, folder, and what signals do. What is drawn at random
    follows from --shuffle and the test alone."""
    while served_applications:
        application = served_applications.pop()
        if listener := application.wsgi_app.index_version._listener:
            listener.close()
        application.extensions["scan"].key_usage.close()
        renew(application)
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
    if os.environ != environment:
        for name in os.environ.keys() - environment.keys():
            del os.environ[name]
        os.environ.update(environment)
    os.chdir(folder)
    for number, handler in on_signals.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def documented_answers():
    """Whatever a test asks about, the answer has to be one that the OpenAPI document describes."""
    watch, plainly, read = Watch(), FlaskClient.open, NodeSession._call_node

    def open_and_look(client, *arguments, **more):
        watch.read = set()
        answer = plainly(client, *arguments, **more)
        watch.look(answer.request.method, answer.request.path, answer)
        return answer

    def read_and_note(session, calls, reading):
        results = read(session, calls, reading)
        watch.reading(calls)
        return results

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FlaskClient, "open", open_and_look)
        patch.setattr(NodeSession, "_call_node", read_and_note)
        yield
