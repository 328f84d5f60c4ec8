"""Servers that outlive the runs of tests, with databases that few mutants have a part in."""

import os
import pickle
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.recorder import Recorder

KEPT = "SCAN_TEST_MUTANTS_KEPT"


class Kept(NamedTuple):
    """`made_by` has the functions and statements that made the databases: for a mutant of these,
    they are made anew."""

    environment: dict[str, str]
    made_by: frozenset[str]


NODE = ("scenario",)
DATABASES = ("postgres", "template", "indexed_template")


@contextmanager
def kept(root: Path, folder: Path) -> Iterator[Kept]:
    """Values of session fixtures of tests/conftest.py, in a file whose path the tests get."""
    from tests.conftest import played_on
    from tests.support.anvil import Anvil
    from tests.support.database import Postgres, name_in
    from tests.support.indexing import Indexing
    from tests.support.kept_answers import kept_answers

    recorder = Recorder(root)
    with Postgres() as postgres, Anvil() as node, kept_answers(node.url, folder / "answers"):
        played = played_on(node)
        recorder.start()
        template = postgres.make_template()
        with postgres.cloned(template) as url:
            Indexing(url, node.url).run_until(node.head())
            postgres.copy(name_in(url), "template_indexed")
        recorder.stop()
        values = (played, postgres, template, "template_indexed")
        file = folder / "values"
        file.write_bytes(pickle.dumps(dict(zip((*NODE, *DATABASES), values, strict=True))))
        yield Kept({KEPT: str(file)}, frozenset(recorder.entered))


def used(names: tuple[str, ...]) -> dict[str, Any]:
    """The values of these fixtures, in a fork; requests that the node has answered are kept."""
    if KEPT not in os.environ:
        return {}
    from tests.support.kept_answers import kept_answers

    file = Path(os.environ[KEPT])
    values = pickle.loads(file.read_bytes())
    kept_answers(values["scenario"].anvil.url, file.parent / "answers").__enter__()
    return {name: values[name] for name in names}


def own_folder() -> None:
    """What this process and its forks write into memory is in a folder of its own."""
    if KEPT in os.environ:
        import tests.support.folders as folders

        folders.MEMORY = Path(os.environ[KEPT]).parent / f"{os.getpid()}"
        folders.MEMORY.mkdir()


def clear(process: int) -> None:
    """Drop the databases that a fork has left, and remove its files."""
    if KEPT in os.environ:
        import tests.support.folders as folders

        pickle.loads(Path(os.environ[KEPT]).read_bytes())["postgres"].drop_those_of(process)
        for path in folders.MEMORY.iterdir():
            shutil.rmtree(path, ignore_errors=True)
