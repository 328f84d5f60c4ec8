"""Layouts of the storage as compilers give them: Solidity's `storageLayout` (from 0.5.13 on), and
Vyper's `layout` (in standard JSON from 0.4.1 on); and the modifiers of functions. Their sizes are
bounded.

What a layout lacks comes from syntax trees: in Vyper which types are flags and interfaces, and in
Solidity members of enums, what types that a source declares are over, and structs at the slots of
namespaces (ERC-7201), as of OpenZeppelin's upgradeable contracts. The members of such a struct are
laid out by the compiler itself, in one more compilation without code: as variables of a contract
that is added to the sources.

Of functions there are their modifiers as they are written.
"""

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple

import orjson

from scan.database.connection import Database
from scan.errors import VerificationFailed
from scan.ethereum.rlp_and_tries import keccak256
from scan.verification.contract_interface import (
    UNREADABLE,
    Declared,
    Node,
    declared_in,
    require_fields,
)
from scan.verification.contract_match import Match
from scan.verification.languages import vyper
from scan.verification.submission_compilations import Compilations, errors

MAX_LAYOUT_BYTES = 1024 * 1024  # as JSON; a lending protocol's has 60 kB


def packed(finding: object) -> bytes | None:
    """Return a layout, or functions, as they are stored; None for what is too large, too deep, or
    no object."""
    if not isinstance(finding, dict):
        return None
    try:
        text = orjson.dumps(finding)
    except orjson.JSONEncodeError:
        return None
    return zlib.compress(text, 6) if len(text) <= MAX_LAYOUT_BYTES else None


def unpacked(stored: bytes) -> str:
    """Return the JSON of what is stored."""
    return zlib.decompressobj().decompress(stored, MAX_LAYOUT_BYTES).decode("utf-8", "replace")


def stored_object(stored: bytes | None) -> dict[str, Any]:
    """Return what packed() made; {} of nothing."""
    finding: dict[str, Any] = {} if stored is None else orjson.loads(unpacked(bytes(stored)))
    return finding


def findings_of(
    database: Database, address: bytes, verifier: bytes | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the layout and the functions of a contract, or of the verified one whose source it
    has, as add_names() has them; {} where they are not known."""
    addresses = [address, *filter(None, [verifier])]
    rows = database.rows("contracts/compiled_sources_list", addresses=addresses)
    findings = {bytes(of): columns for of, *columns in rows}
    layout, functions = findings.get(address) or findings.get(verifier or address) or (None, None)
    return stored_object(layout), stored_object(functions)


WITHOUT_SELECTOR = ("receive", "fallback")

MAX_NAMESPACES = 50
MAX_DECLARED = 500  # types
MAX_MODIFIERS = 500
MAX_OTHERS = 100  # contracts whose functions are known to be of others
MAX_TEXT = 200  # of a modifier with its arguments
MAX_MEMBERS = 256  # of an enum; the compiler takes no more

_LOCATION = re.compile(r"@custom:storage-location\s+erc7201:([!-~]{1,80})(?:\s|\Z)")
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]{0,199}", re.ASCII)
_CONTRACT = "Namespaces"  # of the variables
_KINDS = {"FlagDef": "flag", "InterfaceDef": "contract", "StructDef": ""}  # Vyper's, by their nodes
STRUCTS = "$structs"  # among a layout's variables, none of which has such a name
_NAME = re.compile(r"(?<![\w./])[A-Za-z_]\w*(?![\w./])", re.ASCII)


class _Namespace(NamedTuple):
    """A struct at the slot of a namespace, declared in a contract or library of a file."""

    id: str
    path: str
    contract: str
    struct: str


def add_names(
    layout: object, compilations: Compilations, match: Match
) -> tuple[object, dict[str, Any]]:
    """Return a layout of Vyper as _with_kinds() does, or one of Solidity with `declared` types as
    _declared_types() has them, and `namespaces`, a layout of their structs. And of Solidity the
    functions that calls run: by selector `called`, their files and starts, and `modifiers` as
    _modifiers() has them; `others` are the places of contracts that it does not inherit.

    It takes one more compilation for the trees. The source has matched: what never can be read of
    them is left out. Raises Unavailable.
    """
    language = compilations.submission.language
    if not isinstance(layout, dict) or not (language.has_trees or language is vyper.VYPER):
        return layout, {}
    try:
        trees = compilations.trees(match.settings)
        if language is vyper.VYPER:
            require_fields(trees)
            return _with_kinds(layout, trees["sources"].values()), {}
        declared = [*declared_in(trees)]
        key = (match.contract.path, None, match.contract.name)
        [contract] = [
            node for path, around, node in declared if (path, around, node.get("name")) == key
        ]
        namespaces, called = _namespaces(declared, contract), _called(declared, contract)
        functions = {
            "called": {key: (path, span(node)[0]) for key, (path, node) in called.items()},
            "modifiers": _modifiers(called, compilations.submission.sources),
            "others": [
                (path, *span(node))
                for path, _, node in declared
                if node.get("contractKind") == "contract"
                and node.get("id") not in contract["linearizedBaseContracts"]
            ][:MAX_OTHERS],
        }
        laid_out = _laid_out(compilations, match, namespaces) if namespaces else {}
        named = {**layout, "declared": _declared_types(declared), "namespaces": laid_out}
        return named, functions
    except (VerificationFailed, *UNREADABLE):
        return layout, {}


def slot_of(namespace: str) -> int:
    """Return the slot of a namespace, by ERC-7201."""
    inner = int.from_bytes(keccak256(namespace.encode())) - 1
    return int.from_bytes(keccak256((inner % 2**256).to_bytes(32))) & ~0xFF


def _with_kinds(declared: Mapping[str, Any], files: Iterable[Node]) -> dict[str, Any]:
    """Return a layout of Vyper with "flag" or "contract", as Solidity has it, before the names of
    flags and interfaces in its types, and the members of structs at STRUCTS; not of names that
    files declare for different kinds, or with other members."""
    kinds: dict[str, str] = {}
    structs: dict[str, list[tuple[str, str]]] = {}
    for node in chain.from_iterable(file["ast"]["body"] for file in files):
        if node["ast_type"] in _KINDS:
            kind = _KINDS[node["ast_type"]]
            kinds[node["name"]] = kind if kinds.get(node["name"], kind) == kind else ""
        if node["ast_type"] == "StructDef" and len(structs) < MAX_DECLARED:
            fields = [field for field in node["body"] if field["ast_type"] == "AnnAssign"]
            members = [(f["target"]["id"], _vyper_type(f["annotation"])) for f in fields]
            is_other = structs.get(node["name"], members) != members
            structs[node["name"]] = [] if is_other or len(members) > MAX_MEMBERS else members

    def with_kinds(text: str) -> str:
        return _NAME.sub(lambda name: f"{kinds.get(name[0], '')} {name[0]}".lstrip(), text)

    def entry_with_kinds(entry: object) -> dict[str, Any]:
        if not isinstance(entry, dict):
            raise ValueError("a layout has another form")
        if isinstance(text := entry.get("type"), str):
            return {**entry, "type": with_kinds(text)}
        return {name: entry_with_kinds(inner) for name, inner in entry.items()}

    known = {
        name: [(member, with_kinds(text)) for member, text in members]
        for name, members in structs.items()
        if members and kinds[name] == ""
    }
    return {**entry_with_kinds(declared), STRUCTS: known}


def _vyper_type(node: object) -> str:
    """Return the text of a type in a syntax tree, as layouts have it."""
    if not isinstance(node, dict):
        raise ValueError("a type has another form")
    if node["ast_type"] == "Subscript":
        return f"{_vyper_type(node['value'])}[{_vyper_type(node['slice'])}]"
    if node["ast_type"] == "Tuple":
        return ", ".join(map(_vyper_type, node["elements"]))
    if node["ast_type"] == "Attribute":  # of a module
        return str(node["attr"])
    return str(node["id"] if node["ast_type"] == "Name" else node["value"])


def _declared_types(declared: Sequence[Declared]) -> dict[str, list[str] | str]:
    """Return what types are by their labels: the members of enums, and the elementary type of those
    over one; none of names that two files declare."""
    types: dict[str, list[str] | str] = {}
    for _, _, node in declared:
        label, kind = node.get("canonicalName") or str(node.get("name")), node.get("nodeType")
        meaning: list[str] | str = []
        if kind == "EnumDefinition":
            label = f"enum {label}"
            meaning = [str(member.get("name")) for member in node.get("members") or ()]
        elif kind == "UserDefinedValueTypeDefinition":
            meaning = str(node["underlyingType"]["name"])
        if len(types) < MAX_DECLARED or label in types:
            is_other = types.get(label, meaning) != meaning
            types[label] = [] if is_other or len(meaning) > MAX_MEMBERS else meaning
    return {label: meaning for label, meaning in types.items() if meaning}


def _called(declared: Sequence[Declared], contract: Node) -> dict[str, tuple[str, Node]]:
    """Return the functions, and variables with a getter, that calls of a contract run, by selector,
    which trees have since 0.6, or the kind of those without one. Of functions that override each
    other, the last."""
    by_contract: defaultdict[object, list[tuple[str, Node]]] = defaultdict(list)
    for path, around, node in declared:
        if around is not None:
            by_contract[around.get("id")].append((path, node))
    called: dict[str, tuple[str, Node]] = {}
    bases = contract["linearizedBaseContracts"]
    for path, node in chain.from_iterable(by_contract[base] for base in bases):
        key = node.get("functionSelector") or node.get("kind")
        if node.get("functionSelector") or key in (*WITHOUT_SELECTOR, "constructor"):
            called.setdefault(str(key), (path, node))
    return called


def span(node: Node) -> tuple[int, int]:
    """Return the start and the length of a node in bytes."""
    start, length, _ = map(int, str(node["src"]).split(":"))
    return start, length


def _modifiers(
    called: Mapping[str, tuple[str, Node]], sources: Mapping[str, str]
) -> dict[str, tuple[str, list[tuple[str, int]]]]:
    """Return the modifiers of called functions by selector: the file, and of each the text and the
    line."""
    written: dict[str, tuple[str, list[tuple[str, int]]]] = {}
    left = MAX_MODIFIERS
    for selector, (path, function) in called.items():
        source, texts = sources[path].encode(), []
        for modifier in (function.get("modifiers") or ())[:left]:
            start, length = span(modifier)
            text = source[start : start + length].decode("utf-8", "replace")
            texts.append((" ".join(text.split())[:MAX_TEXT], source.count(b"\n", 0, start) + 1))
        if texts:
            written[selector] = path, texts
            left -= len(texts)
    return written


def _namespaces(declared: Sequence[Declared], contract: Node) -> list[_Namespace]:
    """Return the namespaces of a contract, of those that it inherits, and of libraries."""
    bases = {*(contract.get("linearizedBaseContracts") or ()), contract.get("id")}
    namespaces: dict[str, _Namespace] = {}
    structs = [
        (around.get("id") not in bases, path, around, node)
        for path, around, node in declared
        if around is not None and node.get("nodeType") == "StructDefinition"
    ]
    # A library may be one that the contract does not call.
    for is_other, path, around, node in sorted(structs, key=itemgetter(0)):
        if is_other and around.get("contractKind") != "library":
            continue
        documentation = node.get("documentation")
        text = documentation.get("text") if isinstance(documentation, dict) else documentation
        location = _LOCATION.search(str(text or ""))
        names = str(around.get("name")), str(node.get("name"))
        if location and all(_IDENTIFIER.fullmatch(name) for name in names):
            namespaces.setdefault(location[1], _Namespace(location[1], path, *names))
    return [*namespaces.values()][:MAX_NAMESPACES]


def _laid_out(
    compilations: Compilations, match: Match, namespaces: Sequence[_Namespace]
) -> dict[str, Any]:
    """Return the layout of structs at their namespaces' slots, in the compiler's form."""
    path = f"{_CONTRACT}.sol"
    while path in compilations.submission.sources:
        path = f"_{path}"
    imports = [
        f"import {{{namespace.contract} as C{number}}} from {json.dumps(namespace.path)};"
        for number, namespace in enumerate(namespaces)
    ]
    variables = [
        f"C{number}.{namespace.struct} s{number};" for number, namespace in enumerate(namespaces)
    ]
    source = "\n".join([*imports, f"contract {_CONTRACT} {{", *variables, "}"])
    selection = {path: {_CONTRACT: ["storageLayout"]}}
    output = compilations.run(match.settings, selection, more={path: source})
    if errors(output):
        return {}
    layout = output["contracts"][path][_CONTRACT]["storageLayout"]
    entries = [
        {
            **entry,
            "label": f"erc7201:{namespace.id}",
            "slot": str(slot_of(namespace.id)),
            "offset": 0,
        }
        for entry, namespace in zip(layout["storage"], namespaces, strict=True)
    ]
    types = {_renamed(name): _renamed_type(type_) for name, type_ in layout["types"].items()}
    return {"storage": [_renamed_type(entry) for entry in entries], "types": types}


def _renamed(type_name: str) -> str:
    """Return the name of a type, which has numbers of the compilation, apart from the contract's
    own types, which are of another."""
    return f"namespaces {type_name}"


def _renamed_type(described: Mapping[str, Any]) -> dict[str, Any]:
    """Return a type, or a variable, with the types that it refers to renamed."""
    names = {
        field: _renamed(described[field])
        for field in ("type", "base", "key", "value")
        if field in described
    }
    members = [_renamed_type(member) for member in described.get("members") or ()]
    return {**described, **names, **({"members": members} if "members" in described else {})}
