"""Parses and checks the body of a verification request: a source and how it was compiled."""

import re
from binascii import unhexlify
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.errors import InvalidParameter, TooLarge
from scan.verification.compiler_releases import SolcVersion, parse_version

MAX_SOURCE_BYTES = 1024 * 1024
MAX_FILES = 1000
MAX_LIBRARIES = 200
MAX_CONSTRUCTOR_BYTES = 48 * 1024
UNNAMED_PATH = "contract.sol"

FIELDS = (
    "address",
    "sourceCode",
    "compilerVersion",
    "license",
    "contractName",
    "optimizationUsed",
    "runs",
    "evmVersion",
    "viaIR",
    "constructorArguments",
    "libraries",
)
# The settings of a standard JSON input that change code or metadata. Others are not passed on:
# modelChecker, for example, can keep a compiler busy for ever.
_SETTINGS = ("optimizer", "evmVersion", "viaIR", "remappings", "libraries", "metadata", "debug")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,199}")
_LICENSE = re.compile(r"[A-Za-z0-9.+() -]{0,100}")
_EVM_VERSION = re.compile(r"[A-Za-z]{1,30}")
_SWITCHES = {0: False, 1: True, "0": False, "1": True, "false": False, "true": True}


class Submission(NamedTuple):
    """`settings` are the submitted compiler settings; missing ones are searched for.

    `libraries` map `file:Name` or `Name` to addresses. `path_is_known` is False for a single file
    submitted without its path.
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


class _Source(NamedTuple):
    sources: Mapping[str, str]
    settings: Mapping[str, Any] | None  # None for a single file


def parse(body: Mapping[str, Any]) -> Submission:
    """Raises InvalidParameter or TooLarge."""
    parameters.only_known(body, FIELDS, "field")
    address, source_code, version = (
        parameters.required(body, name) for name in ("address", "sourceCode", "compilerVersion")
    )
    contract_path, contract_name = _contract_name(body.get("contractName", ""))
    source = _source(source_code, contract_path)
    given = _settings_given(body)
    settings = given if source.settings is None else source.settings
    return Submission(
        address=parameters.address(address),
        version=parse_version(version),
        sources=source.sources,
        settings={key: value for key, value in settings.items() if key != "libraries"},
        libraries=_libraries(settings.get("libraries", {})) | _libraries(body.get("libraries", {})),
        path_is_known=contract_path is not None or source.settings is not None,
        contract_path=contract_path,
        contract_name=contract_name,
        constructor_arguments=_constructor_arguments(body),
        license=_license(body.get("license", "")),
    )


def _contract_name(value: object) -> tuple[str | None, str | None]:
    """(path, name) from `contracts/Token.sol:Token` or `Token`."""
    text = parameters.text(value, "contractName", most=500)
    path, _, name = text.rpartition(":")
    if text and not _NAME.fullmatch(name):
        raise InvalidParameter(
            "contractName must be a name, or a file and a name: contracts/Token.sol:Token.",
            field="contractName",
        )
    return path or None, name or None


def _source(value: object, path: str | None) -> _Source:
    if not isinstance(value, str) or not value.strip():
        raise InvalidParameter("sourceCode must be Solidity source text.", field="sourceCode")
    if len(value) > 4 * MAX_SOURCE_BYTES:
        raise _too_large()
    text = value.strip()
    if text.startswith("{{") and text.endswith("}}"):
        text = text[1:-1]
    if text.startswith("{"):
        return _standard_json(text)
    _check_size({"": value})
    return _Source({path or UNNAMED_PATH: value}, None)


def _check_text(content: str) -> bytes:
    try:
        encoded = content.encode()
    except UnicodeEncodeError:
        encoded = b"\0"
    if b"\0" in encoded:
        raise InvalidParameter(
            "sourceCode must be text: it contains NUL or invalid Unicode.", field="sourceCode"
        )
    return encoded


def _check_size(sources: Mapping[str, str]) -> None:
    if sum(len(_check_text(content)) for content in sources.values()) > MAX_SOURCE_BYTES:
        raise _too_large()


def _too_large() -> TooLarge:
    return TooLarge("The sources may have at most 1 MiB in total.", field="sourceCode")


def _standard_json(text: str) -> _Source:
    try:
        value = parameters.parse_json(text)
    except (ValueError, RecursionError):
        raise _bad_input("it cannot be parsed") from None
    if value.get("language") != "Solidity":
        raise _bad_input('its language must be "Solidity"')
    sources = value.get("sources")
    if not isinstance(sources, dict) or not 1 <= len(sources) <= MAX_FILES:
        raise _bad_input(f"its sources must be 1 to {MAX_FILES} files")
    contents = {path: _content(path, source) for path, source in sources.items()}
    _check_size(contents)
    return _Source(contents, _standard_settings(value.get("settings", {})))


def _bad_input(reason: str) -> InvalidParameter:
    return InvalidParameter(
        f"sourceCode looks like a standard JSON input, but {reason}.", field="sourceCode"
    )


def _content(path: str, source: object) -> str:
    """`urls` are rejected: a compiler would read them from this machine."""
    content = source.get("content") if isinstance(source, dict) else None
    if not isinstance(content, str):
        raise _bad_input(f"the file {path[:100]!r} has no content (urls are not fetched)")
    _check_text(path)
    return content


def _standard_settings(settings: object) -> dict[str, Any]:
    if not isinstance(settings, dict):
        raise _bad_input("its settings are not an object")
    kept = {name: settings[name] for name in _SETTINGS if name in settings}
    for name in ("optimizer", "metadata", "libraries", "debug"):
        if not isinstance(kept.get(name, {}), dict):
            raise _bad_input(f"settings.{name} is not an object")
    for name, kind in (("remappings", list), ("evmVersion", str), ("viaIR", bool)):
        if name in kept and not isinstance(kept[name], kind):
            raise _bad_input(f"settings.{name} has the wrong type")
    try:
        size = len(orjson.dumps(kept))
    except orjson.JSONEncodeError:  # such as a number of 100 digits
        raise _bad_input("its settings cannot be passed to the compiler") from None
    if size > MAX_SOURCE_BYTES:
        raise _bad_input("its settings are too large")
    return kept


def _settings_given(body: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    optimizer = _optimizer(body)
    if optimizer:
        settings["optimizer"] = optimizer
    evm_version = body.get("evmVersion", "")
    if not isinstance(evm_version, str) or (
        evm_version and not _EVM_VERSION.fullmatch(evm_version)
    ):
        raise InvalidParameter("evmVersion must be a name such as paris.", field="evmVersion")
    if evm_version.lower() not in ("", "default"):
        settings["evmVersion"] = evm_version
    if "viaIR" in body:
        settings["viaIR"] = _switch(body["viaIR"], "viaIR")
    return settings


def _optimizer(body: Mapping[str, Any]) -> dict[str, Any]:
    optimizer: dict[str, Any] = {}
    if "optimizationUsed" in body:
        optimizer["enabled"] = _switch(body["optimizationUsed"], "optimizationUsed")
    if "runs" in body:
        runs = body["runs"]
        if isinstance(runs, str) and re.fullmatch(r"[0-9]{1,10}", runs, re.ASCII):
            runs = int(runs)
        optimizer["runs"] = parameters.integer(
            {"runs": runs}, "runs", default=200, least=0, most=2**32 - 1
        )
    return optimizer


def _switch(value: object, name: str) -> bool:
    """Etherscan's clients send 0 and 1, as numbers or text."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | str) and value in _SWITCHES:
        return _SWITCHES[value]
    raise InvalidParameter(f"{name} must be true or false (or 1 or 0).", field=name)


def _libraries(value: object) -> dict[str, bytes]:
    """Addresses by name, or by name in an object per file."""
    if not isinstance(value, dict):
        raise InvalidParameter(
            "libraries must be an object of names and addresses.", field="libraries"
        )
    if sum(len(item) if isinstance(item, dict) else 1 for item in value.values()) > MAX_LIBRARIES:
        raise InvalidParameter(
            f"libraries may have at most {MAX_LIBRARIES} entries.", field="libraries"
        )
    libraries: dict[str, bytes] = {}
    for name, item in value.items():
        if not isinstance(item, dict):
            item = {"": item}
        for member, address in item.items():
            key = f"{name}:{member}" if member else name
            libraries[key] = parameters.address(address, "libraries")
    return libraries


def _constructor_arguments(body: Mapping[str, Any]) -> bytes | None:
    if "constructorArguments" not in body:
        return None
    value = body["constructorArguments"]
    try:
        if isinstance(value, str) and len(value) <= 2 + 2 * MAX_CONSTRUCTOR_BYTES:
            return unhexlify(value[2:] if value[:2] in ("0x", "0X") else value)
    except ValueError:
        pass
    raise InvalidParameter(
        f"constructorArguments must be hex of at most {MAX_CONSTRUCTOR_BYTES} bytes.",
        field="constructorArguments",
    )


def _license(value: object) -> str | None:
    if not isinstance(value, str) or not _LICENSE.fullmatch(value):
        raise InvalidParameter(
            "license must be an SPDX identifier such as MIT or GPL-3.0-or-later.", field="license"
        )
    return value.strip() or None
