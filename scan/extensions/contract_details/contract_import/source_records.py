"""Verified contracts at Blockscout, Sourcify and Etherscan, as records of one form.

Blockscout: API v2, smart-contracts. Sourcify: API v2, contract. Etherscan: getsourcecode, which
Blockscout's API v1 has, too. A record is a line of an export. The types of the sources' answers are
declared here; scan/verification/request.py checks their contents like any client's submission.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Protocol

import msgspec
import orjson

from scan.cached_values import json_decoder
from scan.extensions.contract_details.contract_import import source_client
from scan.hex import to_hex
from scan.verification.contract_match import FULL, PARTIAL
from scan.verification.languages import LANGUAGES

SOLIDITY = "Solidity"
_NAMES = {name.lower(): name for name in LANGUAGES}
MAX_NAME = 300
MAX_PAGES = 100_000
_NOT_CHOSEN = ("", "default", "null")


class Record(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A contract as a source has it. `source_code` is text, or a standard JSON input."""

    address: str
    language: str = SOLIDITY
    match: str | None = None
    creation_match: str | None = None
    contract_name: str | None = None
    compiler_version: str = ""
    source_code: str | dict[str, Any] = ""
    optimization_used: bool | None = None
    runs: int | None = None
    evm_version: str | None = None
    libraries: dict[str, Any] | None = None
    constructor_arguments: str | None = None
    license: str | None = None
    chain_id: str | None = None

    def submission(self) -> dict[str, Any]:
        """Return the body of a request to verify this contract."""
        code = self.source_code
        body: dict[str, Any] = {
            "address": self.address,
            "sourceCode": code if isinstance(code, str) else orjson.dumps(code).decode(),
            "compilerVersion": self.compiler_version,
            "contractName": self.contract_name,
            "license": self.license,
        }
        if isinstance(code, str):
            body |= {
                "language": named_language(self.language),
                "optimizationUsed": self.optimization_used,
                "runs": self.runs,
                "evmVersion": self.evm_version,
                "libraries": self.libraries,
            }
        return {name: value for name, value in body.items() if value is not None}


class Source(Protocol):
    """A source of records. `name` names it in claims."""

    name: str

    def record(self, address: bytes) -> Record | None:
        """Return the contract's record; None where the source has not verified it."""
        ...

    def addresses(self) -> Iterator[str]:
        """Yield the addresses that the source lists as verified."""
        ...


class _File(msgspec.Struct):
    file_path: str
    source_code: str


class _Library(msgspec.Struct):
    name: str
    address_hash: str


class _Blockscout(msgspec.Struct):
    """The used fields of a response of /api/v2/smart-contracts/{address}."""

    is_verified: bool | None = None
    is_fully_verified: bool | None = None
    is_changed_bytecode: bool | None = None
    language: str | None = None
    name: str | None = None
    file_path: str | None = None
    source_code: str | None = None
    additional_sources: list[_File] | None = None
    compiler_version: str | None = None
    compiler_settings: dict[str, Any] | None = None
    optimization_enabled: bool | None = None
    optimization_runs: int | None = None
    evm_version: str | None = None
    external_libraries: list[_Library] | None = None


class _Hash(msgspec.Struct):
    hash: str


class _Item(msgspec.Struct):
    address: _Hash


class _Listed(msgspec.Struct):
    items: list[_Item]
    next_page_params: dict[str, Any] | None = None


class Blockscout:
    def __init__(self, client: source_client.SourceClient) -> None:
        self._client = client
        self.name = client.base_url

    def record(self, address: bytes) -> Record | None:
        path = f"/api/v2/smart-contracts/{to_hex(address)}"
        contract = self._client.get(path, _Blockscout)
        if contract is None or not contract.is_verified or not contract.source_code:
            return None
        version = contract.compiler_version or ""
        record = Record(
            address=to_hex(address),
            language=named_language(contract.language or SOLIDITY),
            match=FULL if contract.is_fully_verified else PARTIAL,
            compiler_version=version,
        )
        files = {file.file_path: file.source_code for file in contract.additional_sources or ()}
        libraries = {item.name: item.address_hash for item in contract.external_libraries or ()}
        return _with_source(
            record,
            files,
            contract.source_code,
            (contract.file_path, contract.name),
            contract.compiler_settings,
            (
                contract.optimization_enabled,
                contract.optimization_runs,
                contract.evm_version,
                libraries,
            ),
        )

    def addresses(self) -> Iterator[str]:
        following: dict[str, Any] = {}
        for _ in range(MAX_PAGES):
            query = {key: _text(value) for key, value in following.items()}
            page = self._client.get("/api/v2/smart-contracts", _Listed, **query)
            if page is None:
                raise source_client.SourceFailed(f"{self.name} lists no verified contracts")
            yield from (item.address.hash for item in page.items)
            if not page.next_page_params or page.next_page_params == following:
                return
            following = page.next_page_params


class _Compilation(msgspec.Struct, rename="camel"):
    language: str | None = None
    compiler_version: str | None = None
    compiler_settings: dict[str, Any] | None = None
    fully_qualified_name: str | None = None


class _Sourcify(msgspec.Struct, rename="camel"):
    """The used fields of a response of /v2/contract/{chain}/{address}."""

    match: str | None = None
    creation_match: str | None = None
    compilation: _Compilation | None = None
    std_json_input: dict[str, Any] | None = None
    match_id: str | None = None
    address: str | None = None


class _Results(msgspec.Struct):
    results: list[_Sourcify]


class Sourcify:
    """Sourcify's API v2, at a URL such as https://sourcify.dev/server."""

    _MATCHES: Mapping[str | None, str] = {"exact_match": FULL, "match": PARTIAL}

    def __init__(self, client: source_client.SourceClient, chain_id: str) -> None:
        self._client = client
        self._chain_id = chain_id
        self.name = client.base_url

    def record(self, address: bytes) -> Record | None:
        path = f"/v2/contract/{self._chain_id}/{to_hex(address)}"
        contract = self._client.get(path, _Sourcify, fields="compilation,stdJsonInput")
        if contract is None or contract.match is None:
            return None
        compilation, code = contract.compilation, contract.std_json_input
        if compilation is None or code is None:
            raise source_client.Malformed("its answer has no source")
        return Record(
            address=to_hex(address),
            language=named_language(compilation.language or SOLIDITY),
            match=self._MATCHES.get(contract.match),
            creation_match=self._MATCHES.get(contract.creation_match),
            contract_name=compilation.fully_qualified_name,
            compiler_version=compilation.compiler_version or "",
            source_code={"settings": compilation.compiler_settings or {}, **code},
        )

    def addresses(self) -> Iterator[str]:
        query = {"sort": "asc", "limit": "200"}
        for _ in range(MAX_PAGES):
            page = self._client.get(f"/v2/contracts/{self._chain_id}", _Results, **query)
            if page is None or not page.results:
                return
            yield from (item.address or "" for item in page.results)
            last = page.results[-1].match_id or ""
            if last == query.get("afterMatchId"):
                return
            query["afterMatchId"] = last


class _Row(msgspec.Struct, rename="pascal"):
    """A row of getsourcecode, for some fields of which Blockscout's API v1 has other names."""

    source_code: str | None = None
    contract_name: str | None = None
    compiler_version: str | None = None
    optimization_used: str | int | bool | None = None
    runs: str | int | None = None
    optimization_runs: str | int | None = None
    EVMVersion: str | None = msgspec.field(name="EVMVersion", default=None)
    library: str | None = None
    contract_file_name: str | None = None
    file_name: str | None = None
    compiler_settings: dict[str, Any] | str | None = None
    additional_sources: list[dict[str, Any]] | None = None
    similar_match: str | None = None


class _Rows(msgspec.Struct):
    result: list[_Row] | str | None = None

    def require_usable(self) -> None:
        """Raise SourceBusy where the result is a text about a rate limit, SourceFailed where it is
        one about the API key."""
        text = self.result.lower() if isinstance(self.result, str) else ""
        if "rate limit" in text:
            raise source_client.SourceBusy
        if "api key" in text or "deprecated" in text:
            raise source_client.SourceFailed("the source refuses the API key, or requires one")


class Etherscan:
    """Etherscan's getsourcecode, at any URL that has it, such as Blockscout's /api."""

    def __init__(self, client: source_client.SourceClient, key: str, chain_id: str) -> None:
        self._client = client
        self._query = {"chainid": chain_id} | ({"apikey": key} if key else {})
        self.name = client.base_url

    def record(self, address: bytes) -> Record | None:
        rows = self._client.get(
            "",
            _Rows,
            module="contract",
            action="getsourcecode",
            address=to_hex(address),
            **self._query,
        )
        if rows is None or not isinstance(rows.result, list) or not rows.result:
            return None
        row = rows.result[0]
        if not row.source_code or row.similar_match:
            return None
        return _of_row(row, address)

    def addresses(self) -> Iterator[str]:
        raise source_client.SourceFailed("Etherscan's form has no list of verified contracts")


def _of_row(row: _Row, address: bytes) -> Record:
    version = row.compiler_version or ""
    language, colon, release = version.partition(":")
    record = Record(
        address=to_hex(address),
        language=named_language(language) if colon else SOLIDITY,
        compiler_version=release if colon else version,
    )
    text = row.source_code or ""  # not stripped: its hash covers the end of its last line
    runs = _text(row.runs if row.optimization_runs is None else row.optimization_runs)
    chosen = (
        _text(row.optimization_used).lower() in ("1", "true"),
        int(runs) if runs.isascii() and runs.isdecimal() and len(runs) <= 10 else None,
        row.EVMVersion,
        _libraries(row.library or ""),
    )
    path_and_name = (row.contract_file_name or row.file_name, row.contract_name)
    if text.lstrip().startswith("{") and (files := _json_files(text)) is not None:
        if "sources" in files:
            record.source_code = files
            record.contract_name = _name(*path_and_name)
            return record
        contents = {path: _content(file) for path, file in files.items()}
        return _with_source(record, contents, "", path_and_name, {}, chosen)
    others = row.additional_sources or ()
    extra = {_text(file.get("Filename")): _text(file.get("SourceCode")) for file in others}
    settings = row.compiler_settings if isinstance(row.compiler_settings, dict) else None
    return _with_source(record, extra, text, path_and_name, settings, chosen)


def _json_files(text: str) -> dict[str, Any] | None:
    """Return the JSON object in `{…}` or `{{…}}`; None where the text is Solidity."""
    inner = text.strip()
    if inner.startswith("{{") and inner.endswith("}}"):
        inner = inner[1:-1]
    try:
        return json_decoder(dict[str, Any]).decode(inner)
    except (msgspec.MsgspecError, RecursionError):
        return None


def _with_source(
    record: Record,
    files: Mapping[str, str],
    text: str,
    path_and_name: tuple[str | None, str | None],
    settings: Mapping[str, Any] | None,
    chosen: tuple[bool | None, int | None, str | None, Mapping[str, str]],
) -> Record:
    """Return the record with its source: text, or a standard JSON input for several files, or
    settings of their own. `chosen` are optimizer, runs, EVM version and libraries."""
    path, name = path_and_name
    is_optimized, runs, evm_version, libraries = chosen
    record.contract_name = _name(path, name)
    evm = None if (evm_version or "").lower() in _NOT_CHOSEN else evm_version
    if not files and not settings:
        record.source_code = text
        record.optimization_used, record.runs, record.evm_version = is_optimized, runs, evm
        record.libraries = dict(libraries) or None
        return record
    if not settings:
        optimizer = {"enabled": bool(is_optimized), "runs": 200 if runs is None else runs}
        settings = {"optimizer": optimizer, "libraries": libraries}
        if evm is not None:
            settings = {**settings, "evmVersion": evm}
    if text:
        language = LANGUAGES.get(record.language, LANGUAGES[SOLIDITY])
        suffix = PurePosixPath(language.unnamed_path).suffix
        files = {path or f"{name}{suffix}": text, **files}
    sources = {path: {"content": content} for path, content in files.items()}
    record.source_code = {"language": record.language, "sources": sources, "settings": settings}
    return record


def named_language(text: str) -> str:
    """Return the name of a language in standard JSON, which sources write in any letter case."""
    return _NAMES.get(text.lower(), text)


def _name(path: str | None, name: str | None) -> str | None:
    """Return `path:Name`, or the name alone. Some sources give both as the name."""
    if not name or not path or ":" in name:
        return name or None
    return f"{path}:{name}"


def _libraries(text: str) -> dict[str, str]:
    """Parse `Name:address;…` to addresses by name."""
    pairs = (item.rpartition(":") for item in text.split(";") if item.strip())
    return {name.strip(): f"0x{at.strip().removeprefix('0x')}" for name, _, at in pairs}


def _content(file: object) -> str:
    return _text(file.get("content")) if isinstance(file, dict) else ""


def _text(value: object) -> str:
    return "" if value is None else str(value)
