"""What a request can run: the modules that the application imports, with the parts of extensions
that these ask the registry for."""

import ast
from functools import cache
from pathlib import Path

from tests.support.hooks_document import contracts

ROOT = Path(__file__).resolve().parent.parent.parent
ASKED_FOR = {"parts", "by_extension", "only"}  # of the registry
TYPED = "TYPE_CHECKING"
BESIDE = {"worker"}  # what gunicorn.conf.py asks for
MODULES = {contract.name: {contract.module, contract.chapter} - {""} for contract in contracts()}


@cache
def paths():
    """The files of all modules of scan/ and app.py, by name."""
    files = [*(ROOT / "scan").rglob("*.py"), ROOT / "app.py"]
    # A wheel has files in scan/resources that the repository has beside scan/.
    return {_name(path): path for path in files if not {"resources", "tests"} & {*path.parts}}


@cache
def trees():
    """All modules, parsed. Tests have it when they are imported, before any has threads: Python
    3.11 counts the depth of all of them together, and tracebacks that are logged are parsed, too.
    """
    return {name: ast.parse(path.read_text("utf-8")) for name, path in paths().items()}


def modules():
    """All modules by name, as they run."""
    return {name: run(t) if name.endswith(".hooks") else t for name, t in trees().items()}


def served(trees):
    reached = set()
    parts, ahead = {*BESIDE}, {"app"}
    while ahead:
        reached |= ahead
        parts |= {part for name in ahead for part in _parts(trees[name])}
        ahead = {imported for name in ahead for imported in _imports(trees[name])}
        ahead |= {name for name in trees if _part(name) in parts}
        ahead = (ahead & trees.keys()) - reached
    return {name: trees[name] for name in sorted(reached)}


@cache
def nodes(tree):
    """All nodes of a module, which several tests look at."""
    return [*ast.walk(tree)]


@cache
def functions(tree):
    """Each function with what stands in it, then the module with what stands in none."""
    inner, bodies = set(), []
    for node in nodes(tree):
        if isinstance(node, ast.FunctionDef) and node not in inner:
            inside = [*ast.walk(node)]
            inner |= {*inside}
            bodies.append((node.name, inside))
    return [*bodies, ("", [node for node in nodes(tree) if node not in inner])]


def _name(path):
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _part(module):
    names = module.split(".")
    return names[-1] if names[:2] == ["scan", "extensions"] and len(names) > 3 else None


def _parts(tree):
    for node in nodes(tree):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="registry"), attr=name),
                args=[ast.Name(id=contract) | ast.Attribute(attr=contract), *_],
            ) if name in ASKED_FOR and contract in MODULES:  # else in the registry itself
                yield from MODULES[contract]


def _imports(tree):
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def run(tree):
    """Return a module without what the type checker alone reads, as in hooks."""
    typed = [n for n in tree.body if isinstance(n, ast.If) and ast.unparse(n.test) == TYPED]
    return ast.Module([node for node in tree.body if node not in typed], [])
