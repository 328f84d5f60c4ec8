"""Hooks: what extensions bring is what a contract says, and what is misspelt is named."""

import ast
import os
import shutil
import sys
from functools import cache

import pytest

from tests.support import extensions_document, hooks_document, served_modules
from tests.support.serving import ROOT, completed

CONTRACTS = {contract.name: contract for contract in hooks_document.contracts()}
MARKETS = "scan/extensions/markets"
MODULES = [path for path in (ROOT / "scan/extensions").rglob("*.py") if "tests" not in path.parts]


@cache
def parts():
    """The modules of extensions that bind HOOKS, each with the objects that it makes."""
    return {
        path: node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        for path in MODULES
        if "HOOKS" in (text := path.read_text(encoding="utf-8"))  # others need not be parsed
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HOOKS"
    }


def made_by(node):
    return ast.unparse(node.func).split(".")[-1]


@pytest.mark.check
def test_a_part_stands_in_the_module_of_its_contract():
    """In another module nothing would read it."""
    made = {(path, made_by(node)) for path, nodes in parts().items() for node in nodes}
    # What an extension adds to one that is deleted has no contract.
    known = {(path, CONTRACTS[name]) for path, name in made if name in CONTRACTS}
    assert not [(path, c.module) for path, c in known if path.stem not in (c.module, c.chapter)]
    assert len(known) == len(made) or extensions_document.taken_away()


@pytest.mark.check
def test_a_module_of_a_contract_s_name_is_a_part():
    named = {name for c in CONTRACTS.values() for name in (c.module, c.chapter)}
    assert {path for path in MODULES if path.stem in named} - parts().keys() == set()


@pytest.mark.check
def test_each_hook_is_brought_by_an_extension():
    brought = {
        (made_by(node), keyword.arg)
        for nodes in parts().values()
        for node in nodes
        for keyword in node.keywords
    }
    unused = {
        f"{contract.name}.{hook.name}"
        for contract in CONTRACTS.values()
        for hook in contract.hooks
        if (contract.name, hook.name) not in brought
    }
    assert unused == set() or extensions_document.taken_away()


@pytest.fixture
def altered(tmp_path):
    """A copy of scan/ with its bytecode, in whose files a test may write."""
    for path in (ROOT / "scan").rglob("*"):
        if path.is_dir() or ".pyc." in path.name:  # which Python renames once it is written
            continue
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.hardlink_to(path)
    (tmp_path / "sql").symlink_to(ROOT / "sql")
    return tmp_path


def write(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.unlink()
    path.write_text(text.replace(old, new), encoding="utf-8")


def run(folder, *command):
    env = os.environ | {"PYTHONPATH": str(folder), "MYPYPATH": str(folder)}
    return completed([sys.executable, *command], cwd=folder, env=env, timeout=300)


READ_PAGES = "from scan import registry; from scan.pages.hooks import Pages; registry.parts(Pages)"
READ_DERIVED = (
    "from scan import registry; from scan.indexer.hooks import Derived; registry.parts(Derived)"
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("file", "old", "new", "program", "message"),
    [
        (
            "views.py",
            "menu=(",
            "menue=(",
            READ_PAGES,
            "views.py of the extension markets is wrong: it has no hook menue; did you mean menu?",
        ),
        (
            "derived.py",
            "    derive=derive,\n",
            "",
            READ_DERIVED,
            "missing 1 required keyword-only argument: 'derive'",
        ),
        (
            "views.py",
            "HOOKS = ",
            "HOOK = ",
            READ_PAGES,
            "views.py of the extension markets is wrong: HOOKS is no Pages",
        ),
    ],
    ids=["unknown", "missing", "unbound"],
)
def test_a_part_that_breaks_its_contract_is_named(altered, file, old, new, program, message):
    write(altered / MARKETS / file, old, new)
    done = run(altered, "-c", program)
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1].startswith("scan.errors.SettingError: SCAN_EXTENSIONS")
    assert message in done.stderr.splitlines()[-1]


IMPORT_ALL = """
import functools, importlib, pathlib, sys
BODIES, reads, kept_by = {("<module>", name) for name in sys.argv[1:]}, [], functools.cache

def note():
    reads.append(1)
    frame = sys._getframe(1)
    while frame and (frame.f_code.co_name, frame.f_globals["__name__"]) not in BODIES:
        frame = frame.f_back
    if frame:
        print(frame.f_globals["__name__"])

def cache(function):  # that notes what was read for a value whenever it is asked for
    kept, reading = kept_by(function), set()
    def call(*arguments, **options):
        key, before = (arguments, *options.items()), len(reads)
        value = kept(*arguments, **options)
        if len(reads) > before:
            reading.add(key)
        elif key in reading:
            note()
        return value
    call.cache_clear = kept.cache_clear
    return call

functools.cache = cache
from scan import registry

def watched(read):
    return lambda *arguments, **options: (note(), read(*arguments, **options))[1]

for name in "installed enabled by_extension has folders commands reserved_paths".split():
    setattr(registry, name, watched(getattr(registry, name)))
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:  # a part of an extension that is taken away
        missing = error.name.split(".")
        if missing[:2] != ["scan", "extensions"] or pathlib.Path(*missing[:3]).is_dir():
            raise
"""


@pytest.mark.thorough
@pytest.mark.check
def test_importing_a_module_reads_nothing_of_the_registry():
    modules = [name for name in served_modules.paths() if not name.endswith("__main__")]
    done = run(ROOT, "-c", IMPORT_ALL, *modules)
    assert done.returncode == 0, done.stderr
    # An extension could not be chosen after that.
    assert not done.stdout


def test_a_missing_need_is_named_by_every_command(altered):
    shutil.rmtree(altered / "scan/extensions/items")
    done = run(altered, "-m", "scan", "--help")
    assert done.returncode == 2
    assert "the extension token_lists needs items, whose folder is missing" in done.stderr


WITHOUT_CONTRACT = [
    ("menu=(", "menue=(", 'Unexpected keyword argument "menue" for "Pages"'),
    ("menu=(", "page_of_missing=(", 'Argument "page_of_missing" to "Pages" has incompatible'),
]


@pytest.mark.parametrize(("old", "new", "message"), WITHOUT_CONTRACT, ids=["name", "type"])
@pytest.mark.long
def test_the_type_checker_refuses_hooks_that_no_contract_has(altered, old, new, message):
    write(altered / MARKETS / "views.py", old, new)
    (altered / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text("utf-8"))
    assert message in run(altered, "-m", "mypy", f"{MARKETS}/views.py").stdout
