"""The body of a verification request, parsed and checked: a source and how it was compiled."""

import json
import re
from binascii import unhexlify
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from scan import json_bodies, parameters
from scan.errors import InvalidParameter, TooLarge
from scan.ethereum.rlp_and_tries import keccak256
from scan.verification.languages import BESIDE_SETTINGS, LANGUAGES, solidity
from scan.verification.settings_search import SolcVersion

MAX_SOURCE_BYTES = 1024 * 1024
MAX_FILES = 1000
MAX_LIBRARIES = 200
MAX_CONSTRUCTOR_BYTES = 128 * 1024  # of a creation's input (EIP-7954)
INTERFACE_SUFFIX = ".json"  # of the ABIs that a source of Vyper imports

# Yul's objects and Vyper's files may have hyphens in their names, and digits first.
_NAME = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$-]{0,199}")
# Members of settings that a search reads, with their types: it would take "false" as true.
_MEMBERS: Mapping[str, Mapping[str, type]] = {
    "optimizer": {"enabled": bool, "runs": int, "details": dict},
    "metadata": {"appendCBOR": bool, "bytecodeHash": str, "useLiteralContent": bool},
}
_SWITCHES = {0: False, 1: True, "0": False, "1": True, "false": False, "true": True}

Parser = Callable[[Any, str], Any]


COMMIT = "+commit."  # in a compiler's version


class Submission(NamedTuple):
    """A parsed request. `settings` are the submitted compiler settings; a search finds missing
    ones.

    `libraries` map `file:Name` or `Name` to addresses. `path_is_known` is False for a single file
    submitted without its path. `selection` is what is compiled where that is more
    than the contract. Without a name, that is `selected_files`, or all where there are none.
    """

    address: bytes
    version: SolcVersion
    sources: Mapping[str, str]
    settings: Mapping[str, Any]
    libraries: Mapping[str, bytes]
    path_is_known: bool
    contract_path: str | None
    contract_name: str | None
    constructor_arguments: bytes | None
    license: str | None
    language: solidity.Language = solidity.SOLIDITY
    selection: solidity.Selection | None = None
    commit: str = ""  # of the compiler, as submitted: releases are chosen by their numbers
    selected_files: tuple[str, ...] = ()


class _Source(NamedTuple):
    """A single file's text, or the files of a standard JSON input, and its settings if it has
    any: the fields beside it say how it was compiled otherwise."""

    text: str = ""
    files: Mapping[str, str] = {}
    settings: Mapping[str, Any] | None = None
    language: solidity.Language | None = None
    selected: tuple[str, ...] = ()  # files, by its outputSelection


def parse(body: Mapping[str, Any]) -> Submission:
    """Parse a request's body. Raises InvalidParameter or TooLarge."""
    faults = parameters.Faults()
    faults.read(json_bodies.only_known, body, FIELDS, "field")
    for name in REQUIRED:
        faults.read(parameters.required, body, name)
    fields = {
        name: faults.read(read, body[name], name) for name, read in FIELDS.items() if name in body
    }
    source: _Source = fields.get("sourceCode") or _Source()
    language = faults.read(_language, source, fields) or solidity.SOLIDITY
    version = faults.read(language.kind.parse_version, fields.get("compilerVersion", "0.0.0"))
    faults.raise_found()
    path, name = fields.get("contractName", (None, None))
    settings = _settings(fields, language) if source.settings is None else source.settings
    # Vyper's compiler names the contract after its file.
    own_name = name + language.suffixes[0] if language.suffixes and name else None
    sources = source.files or {path or own_name or language.unnamed_path: source.text}
    _check_files(language, sources)
    return Submission(
        address=fields["address"],
        version=version,
        sources=sources,
        settings=language.required(sources, version)
        | {key: value for key, value in settings.items() if key != "libraries"},
        libraries=_libraries(settings.get("libraries", {}), "libraries")
        | fields.get("libraries", {}),
        path_is_known=path is not None or bool(source.files),
        contract_path=path,
        contract_name=name,
        constructor_arguments=fields.get("constructorArguments"),
        license=fields.get("license", "").strip() or None,
        language=language,
        commit=fields["compilerVersion"].partition(COMMIT)[2].partition(".")[0],
        selected_files=source.selected,
    )


def _language(source: _Source, fields: Mapping[str, Any]) -> solidity.Language:
    """Return the language of the field or of the standard JSON input, by default Solidity. Raises
    InvalidParameter where they differ."""
    language: solidity.Language | None = fields.get("language")
    if source.language and language and language is not source.language:
        message = f"language differs from that of the standard JSON input: {source.language.name}."
        raise InvalidParameter(message, field="language")
    return source.language or language or solidity.SOLIDITY


def _check_files(language: solidity.Language, sources: Mapping[str, str]) -> None:
    """Check suffixes, where a language has some, and that its interfaces in JSON can be parsed."""
    if not language.suffixes:
        return
    suffixes = (*language.suffixes, INTERFACE_SUFFIX)
    for path, content in sources.items():
        if not path.endswith(suffixes):
            raise InvalidParameter(
                f"Files of {language.name} end with {' or '.join(suffixes)}; {path[:100]!r} does"
                " not.",
                field="sourceCode",
            )
        if path.endswith(INTERFACE_SUFFIX):
            try:
                orjson.loads(content.removeprefix(json_bodies.BYTE_ORDER_MARK))
            except ValueError:
                message = f"The interface {path[:100]!r} is not valid JSON."
                raise InvalidParameter(message, field="sourceCode") from None


def _settings(fields: Mapping[str, Any], language: solidity.Language) -> dict[str, Any]:
    """Return the compiler's settings in the fields beside a single file."""
    settings: dict[str, Any] = {}
    if fields.get("evmVersion", "").lower() not in ("", "default"):
        settings["evmVersion"] = fields["evmVersion"]
    if "optimizer" not in language.settings:
        return settings
    keys = {"optimizationUsed": "enabled", "runs": "runs"}
    if optimizer := {key: fields[name] for name, key in keys.items() if name in fields}:
        settings["optimizer"] = optimizer
    if "viaIR" in fields:
        settings["viaIR"] = fields["viaIR"]
    return settings


def _matching(pattern: str, description: str) -> Parser:
    """Return the parser of a text that has to match `pattern` as a whole."""

    def read(value: object, name: str) -> str:
        if not isinstance(value, str) or not re.fullmatch(pattern, value):
            raise InvalidParameter(f"{name} must be {description}.", field=name)
        return value

    return read


def _contract_name(value: object, name: str) -> tuple[str | None, str | None]:
    """Return (path, name) from `contracts/Token.sol:Token` or `Token`."""
    text = parameters.text(value, name, most=500)
    path, _, contract = text.rpartition(":")
    if text and not _NAME.fullmatch(contract):
        message = f"{name} must be a name, or a file and a name: contracts/Token.sol:Token."
        raise InvalidParameter(message, field=name)
    return path or None, contract or None


def _source(value: object, name: str) -> _Source:
    if not isinstance(value, str) or not value.strip():
        message = f"The source is missing: {name} must be source code or standard JSON."
        raise InvalidParameter(message, field=name)
    if len(value) > 4 * MAX_SOURCE_BYTES:
        raise _too_large()
    text = value.removeprefix(json_bodies.BYTE_ORDER_MARK).strip()
    if text.startswith("{{") and text.endswith("}}"):
        text = text[1:-1]
    if text.startswith("{"):
        return _standard_json(text)
    _check_size({"": value})
    return _Source(value)


def _check_text(content: str) -> bytes:
    try:
        encoded = content.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        message = "sourceCode must be text: it contains NUL or invalid Unicode."
        raise InvalidParameter(message, field="sourceCode")
    return encoded


def _check_size(sources: Mapping[str, str]) -> None:
    if sum(len(_check_text(content)) for content in sources.values()) > MAX_SOURCE_BYTES:
        raise _too_large()


def _too_large() -> TooLarge:
    return TooLarge("The sources may have at most 1 MiB in total.", field="sourceCode")


def _standard_json(text: str) -> _Source:
    try:
        value = json_bodies.parse_json(text)
    except (ValueError, RecursionError):
        raise _bad_input("it cannot be parsed") from None
    language = LANGUAGES.get(str(value.get("language")))
    if language is None:
        raise _bad_input(f"its language must be one of {', '.join(LANGUAGES)}")
    sources = value.get("sources")
    if not isinstance(sources, dict) or not 1 <= len(sources) <= MAX_FILES:
        raise _bad_input(f"its sources must be 1 to {MAX_FILES} files")
    contents = {path: _content(path, source) for path, source in sources.items()}
    contents |= _interfaces(value.get("interfaces", {}), language)
    _check_size(contents)
    beside = {name: value[name] for name in BESIDE_SETTINGS if name in value}
    settings = None
    if "settings" in value or beside:
        settings = _standard_settings(value.get("settings", {}), beside, language)
    selected = _selected_files(value.get("settings"), contents) if language.suffixes else ()
    return _Source(files=contents, settings=settings, language=language, selected=selected)


def _selected_files(settings: object, contents: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that outputSelection names: what others import may be no contract."""
    selection = settings.get("outputSelection") if isinstance(settings, dict) else None
    if not isinstance(selection, dict):
        return ()
    return tuple(path for path, outputs in selection.items() if path in contents and outputs)


def _bad_input(reason: str) -> InvalidParameter:
    return InvalidParameter(
        f"sourceCode looks like a standard JSON input, but {reason}.", field="sourceCode"
    )


def _content(path: str, source: object) -> str:
    """Return a file's content. `urls` are rejected, as a compiler would read them from this
    machine, and another hash than the content's, as compilers do."""
    if not isinstance(source, dict) or not isinstance(content := source.get("content"), str):
        raise _bad_input(f"the file {path[:100]!r} has no content (urls are not fetched)")
    _check_text(path)
    stated = source.get("keccak256")
    if stated and str(stated).lower().removeprefix("0x") != keccak256(_check_text(content)).hex():
        raise _bad_input(f"the keccak256 of the file {path[:100]!r} is not that of its content")
    return content


def _interfaces(interfaces: object, language: solidity.Language) -> dict[str, str]:
    """Return the interfaces of Vyper's standard JSON, those given as ABI as JSON."""
    if not language.suffixes:
        return {}
    if not isinstance(interfaces, dict) or len(interfaces) > MAX_FILES:
        raise _bad_input(f"its interfaces must be at most {MAX_FILES} files")
    contents = {}
    for path, interface in interfaces.items():
        abi = interface.get("abi") if isinstance(interface, dict) else interface
        if isinstance(abi, list) and path.endswith(INTERFACE_SUFFIX):
            contents[path] = json.dumps({"abi": abi})  # of which the compiler takes the hash
        else:
            contents[path] = _content(path, interface)
    return contents


def _standard_settings(
    settings: object, beside: Mapping[str, Any], language: solidity.Language
) -> dict[str, Any]:
    if not isinstance(settings, dict):
        raise _bad_input("its settings are not an object")
    types = language.settings
    all_settings = {**settings, **beside}
    kept = {name: all_settings[name] for name in types if all_settings.get(name) is not None}
    for name, value in kept.items():
        if not isinstance(value, types[name]):
            fault = "is not an object" if types[name] is dict else "has the wrong type"
            raise _bad_input(f"settings.{name} {fault}")
        for member, of_type in _MEMBERS.get(name, {}).items():
            if type(kept[name].get(member, of_type())) is not of_type:
                raise _bad_input(f"settings.{name}.{member} has the wrong type")
    try:
        size = len(orjson.dumps(kept))
    except orjson.JSONEncodeError:  # such as a number of 100 digits
        raise _bad_input("its settings cannot be passed to the compiler") from None
    if size > MAX_SOURCE_BYTES:
        raise _bad_input("its settings are too large")
    return kept


def _switch(value: object, name: str) -> bool:
    """Return a boolean; Etherscan's clients send 0 and 1, as numbers or text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | str) and value in _SWITCHES:
        return _SWITCHES[value]
    raise InvalidParameter(f"{name} must be true or false (or 1 or 0).", field=name)


def _runs(value: object, name: str) -> int:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,10}", value):
        value = int(value)
    return parameters.integer({name: value}, name, default=200, least=0, most=2**32 - 1)


def _libraries(value: object, name: str) -> dict[str, bytes]:
    """Return addresses by `file:Name` or `Name`, from an object of names or of objects by file."""
    if not isinstance(value, dict):
        raise InvalidParameter(f"{name} must be an object of names and addresses.", field=name)
    if sum(len(item) if isinstance(item, dict) else 1 for item in value.values()) > MAX_LIBRARIES:
        raise InvalidParameter(f"{name} may have at most {MAX_LIBRARIES} entries.", field=name)
    libraries: dict[str, bytes] = {}
    for file, item in value.items():
        members = item if isinstance(item, dict) else {"": item}
        for member, address in members.items():
            key = f"{file}:{member}" if member else file
            libraries[key] = parameters.address(address, name)
    return libraries


def _constructor_arguments(value: object, name: str) -> bytes:
    try:
        if isinstance(value, str) and len(value) <= 2 + 2 * MAX_CONSTRUCTOR_BYTES:
            return unhexlify(value[2:] if value[:2] in ("0x", "0X") else value)
    except ValueError:
        pass
    message = f"{name} must be hex of at most {MAX_CONSTRUCTOR_BYTES} bytes."
    raise InvalidParameter(message, field=name)


def _named_language(value: object, name: str) -> solidity.Language:
    by_name = {language_name.lower(): language for language_name, language in LANGUAGES.items()}
    language = by_name.get(value.lower()) if isinstance(value, str) else None
    if language is None:
        raise InvalidParameter(f"{name} must be one of {', '.join(LANGUAGES)}.", field=name)
    return language


REQUIRED = ("address", "sourceCode", "compilerVersion")
FIELDS: Mapping[str, Parser] = {
    "address": parameters.address,
    "sourceCode": _source,
    "compilerVersion": lambda value, _: value,
    "language": _named_language,
    "license": _matching(
        r"[A-Za-z0-9.+() -]{0,100}", "an SPDX identifier such as MIT or GPL-3.0-or-later"
    ),
    "contractName": _contract_name,
    "optimizationUsed": _switch,
    "runs": _runs,
    "evmVersion": _matching(r"[A-Za-z]{0,30}", "a name such as paris"),
    "viaIR": _switch,
    "constructorArguments": _constructor_arguments,
    "libraries": _libraries,
}
