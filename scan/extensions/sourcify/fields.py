"""Parses the parameters `fields` and `omit`, which select a contract's fields."""

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
    "transientStorageLayout": (),
    "sourceIds": (),
    "additionalInput": (),
    "userdoc": (),
    "devdoc": (),
    "stdJsonInput": (),
    "stdJsonOutput": (),
    "signatures": ("function", "event", "error"),
    "proxyResolution": ("isProxy", "proxyType", "implementations"),
}

Selection = Mapping[str, tuple[str, ...]]  # selected members by field; () where it has none


def selected(arguments: Mapping[str, str]) -> Selection:
    """Return the selected fields; raises InvalidParameter for an unknown field."""
    fields, omit = arguments.get("fields", ""), arguments.get("omit", "")
    if fields and omit:
        raise InvalidParameter("Cannot specify both fields and omit")
    if omit:
        return _all_fields_but(omit.split(","))
    if fields == "all":
        return {**FIELDS, **dict.fromkeys(USUAL, ())}
    return _selected_fields(fields.split(",") if fields else [])


def _selected_fields(names: list[str]) -> Selection:
    selection: dict[str, tuple[str, ...]] = dict.fromkeys(USUAL, ())
    for name in names:
        if name == "all":
            raise InvalidParameter("Cannot specify 'all' with other fields")
        top, member = _field_and_member(name)
        if top in FIELDS:
            selection[top] = (*selection.get(top, ()), member) if member else FIELDS[top]
    return selection


def _all_fields_but(names: list[str]) -> Selection:
    selection = {**FIELDS, **dict.fromkeys(USUAL, ())}
    for name in names:
        top, member = _field_and_member(name)
        if member and top in selection:
            selection[top] = tuple(kept for kept in selection[top] if kept != member)
        if not member or not selection.get(top):
            selection.pop(top, None)
    return selection


def _field_and_member(name: str) -> tuple[str, str]:
    top, _, member = name.partition(".")
    if "." in member:
        raise InvalidParameter(
            "Field selector cannot have more than one level subselectors: " + name[:100]
        )
    known = FIELDS.get(top, () if top in (*ALWAYS, *USUAL) else None)
    if known is None or (member and member not in known) or name.endswith("."):
        raise InvalidParameter(f"Field selector {name[:100]} is not a valid field")
    return top, member
