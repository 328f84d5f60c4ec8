"""The rooms and their order: imports point down, and each library has its one place."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter

import pytest

from scan import registry
from tests.support import hooks_document
from tests.support.extension_tests import is_there
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

# Rooms from the ground up; a room imports from floors below its own, and from no neighbour.
FLOORS = (
    "settings setting_kinds errors parameters json_bodies hex cached_values deadlines files"
    " observability processor_affinity registry",
    "database ethereum rate_limits",
    "concurrency",
    "contracts accounts outbound",
    "indexer webhooks verification",
    "queries server audit",
    "http",
    "api pages",
    "app commands",
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms.split()}


def _name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# A wheel has files in scan/resources that the repository has beside scan/.
FILES = [p for p in (ROOT / "scan").rglob("*.py") if not {"resources", "tests"} & {*p.parts}]
MODULES = {_name(path): path for path in [*FILES, ROOT / "app.py"]}
# Parsed as this is imported, before any test has threads, whose depths Python 3.11 adds up.
TREES = {name: ast.parse(path.read_text("utf-8")) for name, path in MODULES.items()}


@cache
def nodes(tree):
    """All nodes of a module, which several tests look at."""
    return [*ast.walk(tree)]


@cache
def _imports(module):
    """What a module imports, as far as it can be a module: also inside functions, and for types."""
    imports = []
    for node in nodes(TREES[module]):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{module}: a relative import"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                imports.append(whole if whole in MODULES else node.module)
    return imports


def _room(module):
    """`scan.api.contracts` -> api; the package itself and foreign modules have no room."""
    if module == "app":
        return "app"
    names = module.split(".")
    return names[1] if names[0] == "scan" and len(names) > 1 else None


def test_every_module_has_a_room_and_every_room_a_module():
    assert {*FLOOR} == {*filter(None, map(_room, MODULES))} - {"__main__", "extensions"}


@pytest.mark.parametrize("room", sorted(FLOOR))
def test_imports_point_down(room):
    allowed = {below for below in FLOOR if FLOOR[below] < FLOOR[room]}
    # The ground floor is one: what all stands on may stand on each other, without a circle.
    allowed |= {below for below in FLOOR if FLOOR[below] == FLOOR[room] == 0}
    offenders = [
        f"{MODULES[module].relative_to(ROOT)} imports {imported}"
        for module in MODULES
        if _room(module) == room
        for imported in _imports(module)
        if _room(imported) not in (None, room, *allowed)
    ]
    message = f"The room {room} may import only {', '.join(sorted(allowed)) or 'no other room'}"
    assert not offenders, f"{message}: {'; '.join(offenders)}"


def test_no_files_import_each_other():
    """Two files of one circle cannot be read, or tested, one after the other."""
    imports = {module: MODULES.keys() & _imports(module) for module in MODULES}
    TopologicalSorter(imports).prepare()  # raises CycleError with a circle


def test_the_core_imports_no_extension():
    offenders = [
        f"{module} imports {imported}: the core knows extensions by scan/registry.py alone"
        for module in sorted(MODULES)
        for imported in _imports(module)
        if _extension(module) is None and _extension(imported) is not None
    ]
    assert not offenders, _listed(offenders)


def test_an_extension_imports_those_that_it_declares():
    """A module that has hooks for another extension is imported by that one alone."""
    readers = {
        module: file.relative_to(ROOT).parts[2]
        for file in hooks_document.of_extensions()
        for modules in hooks_document.parts(file).values()
        for module in modules
    }
    offenders = []
    for module in sorted(MODULES):
        own = _extension(module)
        needs = registry.installed()[own].needs if own else ()
        part = module.split(".")[-1]
        offenders += [
            f"{module} imports {imported}, which {own} does not declare that it needs"
            for imported in _imports(module)
            if own
            and _extension(imported) not in (None, own, readers.get(part), *needs)
            # Nothing imports what is for an extension that is deleted.
            and _extension(imported) in registry.installed()
        ]
    assert not offenders, _listed(offenders)


def _extension(module):
    """`scan.extensions.block_records.rows` -> blobs; None for what is no extension."""
    names = module.split(".")
    return names[2] if names[:2] == ["scan", "extensions"] and len(names) > 2 else None


# Where a library may be imported.
@pytest.mark.parametrize(
    ("library", "places"),
    [
        ("psycopg2", {"scan.database"}),
        ("requests", {"scan.ethereum"}),
        ("urllib3", {"scan.ethereum", "scan.outbound"}),
        ("http.client", {"scan.outbound"}),
        ("urllib.request", set()),
        ("flask", {"app", "scan.http", "scan.api", "scan.pages", "scan.extensions"}),
        ("solc_select", set()),  # AGPL-3.0: a program, which is run
    ],
)
def test_libraries_have_their_place(library, places):
    users = {
        f"{module}."
        for module in MODULES
        if any(f"{imported}.".startswith(f"{library}.") for imported in _imports(module))
    }
    inside = tuple(f"{place}." for place in places)
    assert {user for user in users if not user.startswith(inside)} == set()
    names = filter(is_there, places - {"scan.extensions"})
    assert not {name for name in names if not any(u.startswith(f"{name}.") for u in users)}


def test_the_environment_is_read_in_settings_alone():
    readers = [
        f"{_line(module, node)} reads os.{node.attr}: only scan/settings.py may"
        # Which modules there are depends on a variable that the registry reads by itself.
        for module in sorted(set(MODULES) - {"scan.settings", "scan.registry"})
        for node in nodes(TREES[module])
        if isinstance(node, ast.Attribute)
        and node.attr in ("environ", "environb", "getenv")
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"  # WSGI has environs of its own
    ]
    assert not readers, _listed(readers)


def test_the_application_knows_no_indexer():
    assert "indexer" not in {_room(name) for name in _imports("app")}


def test_no_sql_in_python():
    sql = re.compile(
        r"\s*(select\s.+\sfrom|insert\s+into|update\s.+\sset|delete\s+from|with\s.+\sas\s*\("
        r"|create\s(table|index|function|database)|drop\s|alter\s|truncate\s|explain\s)\b",
        re.I | re.S,
    )
    # What takes a name of a database, or of an index of schema.sql, and no parameters.
    in_python = {'CREATE DATABASE "', 'ALTER DATABASE "', "DROP INDEX CONCURRENTLY "}
    every = [(module, node) for module in sorted(MODULES) for node in nodes(TREES[module])]
    # Strings that are statements of their own talk about SQL, and nobody runs them.
    prose = {id(node.value) for _, node in every if isinstance(node, ast.Expr)}
    statements = [
        f"{_line(module, node)} has a statement in a string: move it into sql/"
        for module, node in every
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and id(node) not in prose
        and sql.match(node.value)
        and node.value not in in_python
    ]
    assert not statements, _listed(statements)


def _line(module, node):
    return f"{MODULES[module].relative_to(ROOT)}:{node.lineno}"


def _listed(offenders):
    return "\n".join(["", *offenders])
