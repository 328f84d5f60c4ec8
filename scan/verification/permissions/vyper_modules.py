"""The modules of a contract of Vyper: what each declares and imports, and what of it can be called.

The trees of 0.2 to 0.4 alike: what is said by a call in an annotation before 0.4, such as
public(address), is said by marks of the declaration since.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from scan.verification.permissions.syntax_tree import Budget, Node

_MARKS = ("public", "constant", "immutable", "transient")
_WRAPPERS = (*_MARKS, "reentrant", "indexed")
_DECLARATIONS = ("StructDef", "InterfaceDef", "FunctionDef")


class Module(NamedTuple):
    """A file. `imports` are paths of other modules by the name here; `unknown_imports` are others,
    which are interfaces. `flags` have their members in order."""

    path: str
    number: int
    variables: Mapping[str, Node]
    functions: Mapping[str, Node]
    structures: Mapping[str, Node]
    interfaces: Mapping[str, Node]
    flags: Mapping[str, Sequence[str]]
    imports: Mapping[str, str]
    unknown_imports: frozenset[str]
    exports: Sequence[Node]

    def is_contract(self, type_: str) -> bool:
        is_interface = type_ in self.interfaces or type_ in self.unknown_imports
        return is_interface or type_.partition(".")[0] in (*self.imports, *self.unknown_imports)

    def type_string(self, annotation: Node | None, *, is_stored: bool = True) -> str:
        """Return a type as solc names it, where that decides how a value is read."""
        name = type_name(annotation)
        place = "storage ref" if is_stored else "memory"
        if name.startswith("HashMap["):
            return "mapping"
        if name.endswith("]"):
            return name if name.startswith(("Bytes[", "String[")) else f"{name} {place}"
        if name in self.structures:
            return f"struct {name} {place}"
        return f"contract {name}" if self.is_contract(name) else name

    def field(self, annotation: Node | None, name: str) -> Node | None:
        """Return the type of a structure's member."""
        structure = self.structures.get(type_name(annotation)) or {}
        fields = {f["target"]["id"]: f["annotation"] for f in structure.get("body") or ()}
        return fields.get(name)

    def entry(self, annotation: Node | None) -> Node | None:
        """Return the type of what a mapping or an array has."""
        if annotation is None or annotation.get("ast_type") != "Subscript":
            return None
        inside = annotation["slice"]
        inside = inside["value"] if inside.get("ast_type") == "Index" else inside
        elements: Sequence[Node] = inside.get("elements") or ()
        name = type_name(annotation["value"])
        if name == "HashMap" and len(elements) == 2:
            return dict(elements[1])
        of_array: Node = elements[0] if name == "DynArray" and elements else annotation["value"]
        return of_array

    def is_view(self, annotation: Node | None, name: str) -> bool:
        """Return whether a function of an interface of this file changes nothing."""
        interface = self.interfaces.get(type_name(annotation)) or {}
        named = [f for f in interface.get("body") or () if f.get("name") == name]
        bodies = [statement for f in named for statement in f.get("body") or ()]
        said = {str((s.get("value") or {}).get("id")) for s in bodies}
        return not said.isdisjoint(("view", "pure"))


def modules_of(output: Mapping[str, Any], budget: Budget) -> dict[str, Module]:
    """Return the modules of a compiler's output by path."""
    files = output.get("sources") or {}
    trees = {path: f for path, f in files.items() if isinstance(f.get("ast"), dict)}
    modules = {}
    for path, file in trees.items():
        budget.check_time()
        modules[path] = _module(path, file, trees)
    return modules


def _module(path: str, file: Mapping[str, Any], trees: Mapping[str, Any]) -> Module:
    body: Sequence[Node] = file["ast"].get("body") or ()
    imported = {_alias(n): _imported(path, n, trees) for n in body if _is_import(n)}
    declared: dict[str, dict[str, Node]] = {kind: {} for kind in _DECLARATIONS}
    for node in body:
        if node.get("ast_type") in declared:
            declared[node["ast_type"]][node["name"]] = node
    return Module(
        path,
        int(file["id"]),
        {n["target"]["id"]: n for n in body if n.get("ast_type") in ("VariableDecl", "AnnAssign")},
        declared["FunctionDef"],
        declared["StructDef"],
        declared["InterfaceDef"],
        {
            n["name"]: [_member(m) for m in n.get("body") or ()]
            for n in body
            if n.get("ast_type") in ("FlagDef", "EnumDef")
        },
        {name: known for name, known in imported.items() if known is not None},
        frozenset(name for name, known in imported.items() if known is None),
        [n["annotation"] for n in body if n.get("ast_type") == "ExportsDecl"],
    )


def _member(node: Node) -> str:
    return str((node.get("value") or {}).get("id") or (node.get("target") or {}).get("id"))


def _is_import(node: Node) -> bool:
    return node.get("ast_type") in ("Import", "ImportFrom")


def _alias(node: Node) -> str:
    return str(node.get("alias") or node["name"].rpartition(".")[2])


def _imported(path: str, node: Node, trees: Mapping[str, Any]) -> str | None:
    """Return the path of the module that is imported; None where it is not one of the files."""
    named = ".".join(filter(None, [node.get("module"), node["name"]])).replace(".", "/") + ".vy"
    folder = PurePosixPath(path).parent
    for _ in range(int(node.get("level") or 0) - 1):
        folder = folder.parent
    beside = str(folder / named)
    if beside in trees or node.get("level"):
        return beside if beside in trees else None
    below = [known for known in trees if known == named or known.endswith(f"/{named}")]
    return named if named in trees else below[0] if len(below) == 1 else None


def decorators(function: Node) -> set[str]:
    marks = function.get("decorator_list") or ()
    return {str(m.get("id") or (m.get("func") or {}).get("id")) for m in marks}


def plain_annotation(declared: Node) -> tuple[Node, set[str]]:
    """Return the type of a variable, and what else its declaration says."""
    annotation = declared["annotation"]
    kinds = {mark for mark in _MARKS if declared.get(f"is_{mark}")}
    while annotation.get("ast_type") == "Call" and annotation["func"].get("id") in _WRAPPERS:
        kinds.add(annotation["func"]["id"])
        annotation = annotation["args"][0]
    return annotation, kinds


def type_name(annotation: Node | None) -> str:
    """Return a type as it is written; arrays by their brackets, mappings as HashMap[...]."""
    if annotation is None:
        return ""
    if annotation.get("ast_type") == "Attribute":
        return f"{type_name(annotation['value'])}.{annotation['attr']}"
    if annotation.get("ast_type") == "Subscript":
        return f"{type_name(annotation['value'])}[]"
    return str(annotation.get("id") or "")


def exposed_functions(
    modules: Mapping[str, Module], main: Module, callable_: set[str]
) -> set[tuple[str, str]]:
    """Return the functions and variables that can be called of a contract, as path and name: its
    own, those that it exports by name, and of exported interfaces what has no other. `callable_`
    are the names of all."""
    exposed = {(main.path, name) for name in _external(main)}
    interfaces: list[Module] = []
    waiting, known = [main], {main.path}
    while waiting:
        module = waiting.pop()
        for export in module.exports:
            elements = export.get("elements") if export.get("ast_type") == "Tuple" else [export]
            for element in elements or ():
                of = _named_module(element["value"], module, modules)
                if of is None:
                    continue
                if element["attr"] in _external(of):
                    exposed.add((of.path, element["attr"]))
                    continue
                interfaces.append(of)
                if of.path not in known:  # it may export others' functions
                    known.add(of.path)
                    waiting.append(of)
    for of in interfaces:
        names = (_external(of) & callable_) - {name for _, name in exposed}
        exposed |= {(of.path, name) for name in names}
    return exposed


def _named_module(node: Node, module: Module, modules: Mapping[str, Module]) -> Module | None:
    if node.get("ast_type") == "Attribute":
        outer = _named_module(node["value"], module, modules)
        path = outer.imports.get(node["attr"]) if outer is not None else None
    else:
        path = module.imports.get(str(node.get("id")))
    return modules[path] if path is not None else None


def _external(module: Module) -> set[str]:
    names = {n for n, f in module.functions.items() if "external" in decorators(f)}
    public = {n for n, v in module.variables.items() if "public" in plain_annotation(v)[1]}
    return names - {"__init__"} | public
