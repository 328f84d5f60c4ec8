"""README and docs/: commands run or say why not, links lead somewhere, and the text stays short."""

import json
import re
import tomllib

import pytest
import yaml

from tests.support import extensions_document, hooks_document, settings_document, values_document
from tests.support.documents import (
    DOCUMENTS,
    GUIDES,
    RUN_HERE,
    blocks,
    is_broken,
    is_missing,
    links,
)
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

COMMANDS = ("sh", "sql", "python", "js", "ts")


def test_links_lead_to_files_and_headings():
    broken = {
        f"{path.relative_to(ROOT)}: {link}"
        for path in DOCUMENTS
        for link in links(path)
        if "://" not in link and is_broken(path, link)
    }
    assert broken == set()


def test_files_that_documents_name_exist():
    # var/ is a service's own, which the tree has not.
    folders = "|".join(p.name for p in ROOT.iterdir() if p.is_dir() and p.name != "var")
    named = re.compile(rf"`((?:{folders})/[\w./-]+)`")
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in GUIDES
        for name in named.findall(path.read_text(encoding="utf-8"))
        if is_missing(name)
    }
    assert missing == set()


def test_what_is_said_to_run_a_command_is_there():
    """`(run by tests/…)` names files or folders."""
    commands = [block for page in GUIDES for block in blocks(page, *COMMANDS)]
    run_by = [block for block in commands if block.note.startswith("run by ")]
    assert len(run_by) > 10
    for block in run_by:
        files = re.findall(r"(?:\.ci|tests|scan)/[\w./-]*\w", block.note)
        assert files and not any(is_missing(name) for name in files), block


def test_every_command_is_run_or_says_why_not():
    """`(not run: …)` gives a reason; test_sql.py runs those of sql.md."""
    commands = [block for page in GUIDES for block in blocks(page, *COMMANDS)]
    silent = [b for b in commands if not b.note.startswith(("run by ", "not run: "))]
    assert silent
    by_others = [b for b in silent if b.language == "sql" and b.document.name == "sql.md"]
    assert [block for block in silent if block not in RUN_HERE + by_others] == []


@pytest.mark.parametrize(
    "document",
    [extensions_document, hooks_document, settings_document, values_document],
    ids=lambda d: d.__name__,
)
def test_what_is_generated_is_as_it_is_declared(document):
    listed, text = document.DOCUMENT.read_text(encoding="utf-8"), document.whole()
    lacking = [line for line in text.splitlines() if line not in listed]
    assert listed == text or extensions_document.taken_away(), (
        f"run python -m {document.__name__}: it lacks {lacking}"
    )


def test_configuration_is_well_formed():
    parse = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
    written = [block for page in GUIDES for block in blocks(page, *parse)]
    whole = [block for block in written if "…}" not in block.text]
    assert len(whole) > 10
    for block in whole:
        assert parse[block.language](block.text), block
