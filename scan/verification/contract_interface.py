"""The interface of a contract: its ABI and what the compiler says beside it, by which calls, logs
and errors are decoded.

A library's functions are not hashed by the types of its ABI: structures, enums and contracts are
named. Since solc 0.5 its ABI lacks those that change state or take pointers to storage: they are in
`methodIdentifiers` and in the syntax tree, which has their types. What a library emits in another
contract is in that one's ABI since 0.8.21, and where it is linked in none.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count
from types import NoneType
from typing import Any

from scan.contracts.abi import STATED, STORAGE, AbiError, parse_signature, parse_types, signature
from scan.contracts.abi_decoding import LIBRARY, MAX_TYPES

Entries = Sequence[Mapping[str, Any]]  # of an ABI
Node = Mapping[str, Any]  # of a syntax tree
Declared = tuple[str, Node | None, Node]

MAX_NODES = 20_000  # contracts of all files, and what they declare
# What a tree of a form that is not known may raise, whose fields have the types of _FIELDS.
UNREADABLE = (LookupError, ValueError, RecursionError)

_FIELDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(
        "ast legacyAST attributes typeDescriptions baseType keyType valueType"
        " underlyingType expression errorCall baseExpression leftExpression rightExpression"
        " leftHandSide rightHandSide subExpression commonType returnParameters functionName"
        " target annotation slice".split(),
        (dict, NoneType),
    ),
    **dict.fromkeys(
        "nodes statements children modifiers baseContracts members arguments elements abi"
        " linearizedBaseContracts baseFunctions baseModifiers".split(),
        (list, NoneType),
    ),
    **dict.fromkeys("name canonicalName hexValue typeString".split(), (str, NoneType)),
    **dict.fromkeys("nodeType ast_type src".split(), (str,)),
    "id": (int, str),
    "referencedDeclaration": (int, NoneType),
    "typeName": (dict, str, NoneType),
    "body": (dict, list, NoneType),
    "parameters": (dict, list, NoneType),
}
# Of these lists the items, which are objects else.
_NUMBERS = {"linearizedBaseContracts", "baseFunctions", "baseModifiers"}

_CONTRACT = "ContractDefinition"
_NOWHERE: Declared = ("", None, {"nodeType": _CONTRACT})
_LOCATION = re.compile(r" (?:memory|calldata|storage(?: ref| pointer)?)\b")


def interface_of(abi: Entries, selectors: Mapping[str, str], functions: Entries = ()) -> Entries:
    """Return an ABI's entries, with the functions as the compiler has them in `selectors`, by
    signature as in `methodIdentifiers`: by the ABI and by `functions`, which are the syntax tree's.
    Of one that neither has the types are not known."""
    if not functions and selectors.keys() <= {_computed(entry) for entry in abi}:
        return abi
    stated: dict[str, dict[str, Any]] = {}
    for text in selectors:
        with suppress(AbiError):  # it is too long
            stated[text] = {"type": "function", **parse_signature(text), STATED: text}
    for entry in (*abi, *functions):
        for text in stated.keys() & {_computed(entry), _named(entry)}:
            stated[text] |= entry
    others = [entry for entry in abi if entry.get("type", "function") != "function"]
    return [*others, *stated.values()]


def _computed(entry: Mapping[str, Any]) -> str | None:
    """Return the signature of a function by its ABI's types; None of all else."""
    with suppress(AbiError):
        if entry.get("type", "function") == "function":
            return signature(str(entry.get("name")), parse_types(entry.get("inputs", [])))
    return None


def _named(entry: Mapping[str, Any]) -> str | None:
    """Return the signature that a function has in a library: structures have names, which ABIs have
    since solc 0.5.11. None of all else."""
    if entry.get("type", "function") != "function":
        return None
    types = [
        str(p.get("internalType")).rpartition(" ")[2] if "components" in p else str(p.get("type"))
        for p in entry.get("inputs") or ()
    ]
    return f"{entry.get('name')}({','.join(types)})"


def require_fields(tree: object) -> None:
    """Raise ValueError where a field of an output, with syntax trees and ABIs, is of another type
    than what reads it takes."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            waiting.extend(value for name, value in node.items() if name != "legacyAST")
            for name, value in node.items():
                if (types := _FIELDS.get(name)) is not None and not (
                    isinstance(value, types) and _has_items(node, name, value)
                ):
                    raise ValueError(f"a syntax tree has another form of {name}")


def _has_items(node: Node, name: str, value: object) -> bool:
    """Return whether a field has the items that it has in nodes of this type."""
    of = str(node.get("nodeType"))
    if isinstance(value, str) and name == "typeName":
        return of == "ElementaryTypeNameExpression"  # before 0.6
    if name == "parameters" and isinstance(value, list) != (
        of == "ParameterList" or of.startswith("Yul")
    ):
        return value is None
    if name == "parameters" and isinstance(value, dict):
        return value.get("nodeType") == "ParameterList"
    if name == "body" and isinstance(value, list) != ("ast_type" in node):
        return value is None
    items = value if isinstance(value, list) else ()
    return all(isinstance(item, int if name in _NUMBERS else dict) for item in items)


def _has_objects(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(of, dict) for of in value.values())


def declared_in(output: Mapping[str, Any]) -> Iterator[Declared]:
    """Yield what files, and contracts in them, declare: the path, the contract, the declaration."""
    require_fields(output)
    by_path, compiled = output.get("sources") or {}, output.get("contracts") or {}
    of_files = compiled.values() if _has_objects(compiled) else [None]
    if not all(map(_has_objects, (by_path, *of_files))):
        raise ValueError("an output has another form of sources or contracts")
    left = MAX_NODES
    for path, file in by_path.items():
        for node in _nodes(file):
            is_contract = node.get("nodeType") == _CONTRACT
            inside = (node.get("nodes") or ()) if is_contract else ()
            for declared in ((path, None, node), *((path, node, inner) for inner in inside)):
                left -= 1
                if left < 0:  # another enum of the same name may follow
                    raise ValueError("too many declarations")
                yield declared


def _nodes(file: Node) -> Sequence[Node]:
    """Return what a file declares; before solc 0.4.12, whose trees have another form, libraries."""
    if "ast" in file:
        return file["ast"].get("nodes") or ()
    children = (file.get("legacyAST") or {}).get("children") or ()
    if not all(
        isinstance(child, dict) and isinstance(child["attributes"], dict) for child in children
    ):
        raise ValueError("a syntax tree has another form of children")
    contracts = [child["attributes"] for child in children if child["name"] == "ContractDefinition"]
    return [{**of, "contractKind": "library"} for of in contracts if of["isLibrary"]]


def library_entries(
    output: Mapping[str, Any], declared: Sequence[Declared], path: str, name: str
) -> Entries:
    """Return the events and errors of libraries that the code of a contract may use, each with its
    library's name: in functions that it refers to, itself or by its bases, by other functions of
    libraries and by functions of files. A library's other events are not its own. Before solc
    0.4.12 those of all libraries."""
    of_files = [(of_path, node) for of_path, around, node in declared if around is None]
    own = [node for of_path, node in of_files if (of_path, node.get("name")) == (path, name)]
    bases = own[0]["linearizedBaseContracts"] if own else []
    nodes = {node.get("id"): (of_path, around, node) for of_path, around, node in declared}
    reached, waiting = {*bases}, [*bases]
    while waiting:
        for key in references_in(nodes[waiting.pop()][2]):
            if key not in reached and nodes.get(key, _NOWHERE)[2]["nodeType"] != _CONTRACT:
                reached.add(key)
                waiting.append(key)
    used = {
        (of_path, around and around["id"], node.get("name"))
        for of_path, around, node in map(nodes.__getitem__, reached)
    }
    return [
        {**entry, LIBRARY: node["name"]}
        for of_path, node in of_files
        if node.get("contractKind") == "library" and node.get("id") not in bases
        for entry in output["contracts"][of_path][node["name"]]["abi"]
        if entry["type"] in ("event", "error")
        and (not own or (of_path, node["id"], entry["name"]) in used)
    ]


def references_in(tree: Node) -> Iterator[int]:
    """Yield the ids of the declarations that a tree refers to, and of functions for operators."""
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            types = node.get("typeDescriptions") or {}
            if not str(types.get("typeIdentifier")).startswith("t_function_external"):
                names = ("referencedDeclaration", "function")
                yield from (node[name] for name in names if isinstance(node.get(name), int))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def library_functions(declared: Sequence[Declared], path: str, name: str) -> Entries:
    """Return the functions of a library in the form of its ABI; none of other contracts. Raises
    ValueError where their types have too many members: a structure of eight structures of eight,
    and so on, has more than memory has."""
    nodes, type_numbers = {node.get("id"): node for _, _, node in declared}, count()

    def parameters(variables: Sequence[Node]) -> list[dict[str, Any]]:
        return [parameter(variable) for variable in variables]

    def parameter(variable: Node) -> dict[str, Any]:
        if next(type_numbers) >= MAX_TYPES:
            raise ValueError("too many types")
        base = variable["typeName"]
        text = _type_name(base)
        entry = {"name": variable["name"], "internalType": _type_string(base)}
        if variable["storageLocation"] == "storage":
            return {**entry, "type": text + STORAGE}
        while base["nodeType"] == "ArrayTypeName":
            base = base["baseType"]
        suffix = text[len(_type_name(base)) :]
        declaration = nodes.get(base.get("referencedDeclaration"), {})
        if "members" in declaration and declaration["nodeType"] == "StructDefinition":
            members = parameters(declaration["members"])
            return {**entry, "type": f"tuple{suffix}", "components": members}
        return {**entry, "type": _type_name(declaration.get("underlyingType", base)) + suffix}

    return [
        {
            "type": "function",
            "name": node["name"],
            "inputs": parameters(node["parameters"]["parameters"]),
            "outputs": parameters(node["returnParameters"]["parameters"]),
            # The first trees lack it; the ABI has every function then.
            **{key: node[key] for key in node.keys() & {"stateMutability"}},
        }
        for of_path, around, node in declared
        if around is not None
        and (of_path, around["name"], around.get("contractKind")) == (path, name, "library")
        and node["nodeType"] == "FunctionDefinition"
        and node["visibility"] in ("public", "external")
    ]


def _type_string(type_name: Node) -> str:
    """Return a type as ABIs have it in `internalType`; compilers before 0.4.26 add locations."""
    return _LOCATION.sub("", type_name["typeDescriptions"]["typeString"])


def _type_name(type_name: Node) -> str:
    """Return the name of a type that a library's signatures have."""
    kind = type_name["nodeType"]
    if kind == "Mapping":
        return (
            f"mapping({_type_name(type_name['keyType'])} => {_type_name(type_name['valueType'])})"
        )
    text = _type_string(type_name)
    if kind == "ArrayTypeName":
        return _type_name(type_name["baseType"]) + text[text.rindex("[") :]
    return "function" if kind == "FunctionTypeName" else text.removesuffix(" payable").split()[-1]
