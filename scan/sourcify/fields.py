"""Which fields of a contract a client selects with `fields` or `omit`."""

from collections.abc import Mapping

from scan.errors import InvalidParameter

ALWAYS = ("match", "creationMatch", "runtimeMatch", "chainId", "address")
USUAL = ("verifiedAt", "matchId")  # unless omitted
FIELDS: Mapping[str, tuple[str, ...]] = {
    "creationBytecode": (
        "onchainBytecode",
        "recompiledBytecode",
        "sourceMap",
        "linkReferences",
        "cborAuxdata",
        "transformations",
        "transformationValues",
    ),
    "runtimeBytecode": (
        "onchainBytecode",
        "recompiledBytecode",
        "sourceMap",
        "linkReferences",
        "cborAuxdata",
        "immutableReferences",
        "transformations",
        "transformationValues",
    ),
    "deployment": ("transactionHash", "blockNumber", "transactionIndex", "deployer"),
    "sources": (),
    "compilation": (
        "language",
        "compiler",
        "compilerVersion",
        "compilerSettings",
        "name",
        "fullyQualifiedName",
    ),
    "abi": (),
    "metadata": (),
    "storageLayout": (),
    "userdoc": (),
    "devdoc": (),
    "stdJsonInput": (),
    "stdJsonOutput": (),
    "proxyResolution": ("isProxy", "proxyType", "implementations"),
}

Selection = Mapping[str, tuple[str, ...]]  # the fields, and the members of those that have some


def selected(arguments: Mapping[str, str]) -> Selection:
    """Raises InvalidParameter for what is no field."""
    fields, omit = arguments.get("fields", ""), arguments.get("omit", "")
    if fields and omit:
        raise InvalidParameter("Cannot specify both fields and omit")
    if omit:
        return _without(omit.split(","))
    if fields == "all":
        return {**FIELDS, **dict.fromkeys(USUAL, ())}
    return _only(fields.split(",") if fields else [])


def _only(names: list[str]) -> Selection:
    chosen: dict[str, tuple[str, ...]] = dict.fromkeys(USUAL, ())
    for name in names:
        if name == "all":
            raise InvalidParameter("Cannot specify 'all' with other fields")
        top, member = _parts(name)
        if top in FIELDS:
            chosen[top] = (*chosen.get(top, ()), member) if member else FIELDS[top]
    return chosen


def _without(names: list[str]) -> Selection:
    left = {**FIELDS, **dict.fromkeys(USUAL, ())}
    for name in names:
        top, member = _parts(name)
        if member and top in left:
            left[top] = tuple(each for each in left[top] if each != member)
        if not member or not left.get(top):
            left.pop(top, None)
    return left


def _parts(name: str) -> tuple[str, str]:
    top, _, member = name.partition(".")
    if "." in member:
        raise InvalidParameter(
            "Field selector cannot have more than one level subselectors: " + name[:100]
        )
    known = FIELDS.get(top, () if top in (*ALWAYS, *USUAL) else None)
    if known is None or (member and member not in known) or name.endswith("."):
        raise InvalidParameter(f"Field selector {name[:100]} is not a valid field")
    return top, member
