"""Verification of a submission, from the request to the stored result, and the bounds on the bytes
that all processes together store in a day, in all and by client.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import orjson

from scan import registry
from scan.contracts.abi_decoding import declared_signatures, signatures_of
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.errors import NotFound, RateLimited, Unavailable, VerificationFailed
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.rlp_and_tries import keccak256
from scan.hex import to_hex
from scan.verification import bytecode_comparison, compiler_store, creation_comparison, hooks
from scan.verification.compiler_run import FINDINGS_S, WAIT_S, CompilerPlaces
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME, Match, layouts_of
from scan.verification.creations import CreationReader
from scan.verification.match_search import MatchSearch, metadata_setting
from scan.verification.metadata_request import variation_of
from scan.verification.request import COMMIT, Submission
from scan.verification.settings_search import dotted
from scan.verification.submission_compilations import Compilations, Outputs

DAY = timedelta(days=1)
MAX_BYTES_A_DAY = 2_000_000_000
CLIENT_SHARE = 10  # a client may store a tenth of the bound for all
RETRY_AFTER_S = 3600


class StoredBytes:
    """Counts in the database, so that restarts and several processes share one bound."""

    def __init__(
        self,
        database: Database,
        most_bytes: int = MAX_BYTES_A_DAY,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._most_bytes = most_bytes
        self._now = now

    def check(self, client: str | None) -> None:
        """Raise RateLimited or Unavailable where no more may be stored. The caller checks this
        before a compiler runs."""
        since = self._now() - DAY
        statement = "verification/stored_bytes_get"
        [(of_all, of_client)] = self._database.rows(statement, since=since, client=client)
        if of_client >= self._most_bytes // CLIENT_SHARE:
            reason = "Your verifications of the last 24 hours have stored as much as they may."
            raise RateLimited(reason, headers={"Retry-After": str(RETRY_AFTER_S)})
        if of_all >= self._most_bytes:
            reason = "Verifications have stored as much as they may within 24 hours."
            raise Unavailable(reason, retry_after_s=RETRY_AFTER_S)

    def add(self, client: str | None, size: int) -> None:
        """Count the bytes, and delete the entries that are older than a day."""
        statement, now = "verification/stored_bytes_insert", self._now()
        self._database.rows(statement, now=now, client=client, bytes=size)


_EOF = b"\xef"
MESSAGES = {
    FULL: "Full match: compiling the source gives the deployed bytecode, including its metadata.",
    PARTIAL: "Partial match: compiling the source gives the deployed bytecode except for the "
    "metadata (comments, variable names or file paths may differ from the original).",
    RUNTIME: "The runtime bytecode matches, but the creation bytecode does not: the constructor or "
    "initial values of the deployed contract may differ from those in the source.",
}
SIMILAR = (
    "Similar match: the runtime bytecode is that of another contract, which was verified; the"
    " creation bytecode is not known to be the same: the constructor or initial values may differ."
)
NOT_COMPARED = (
    "The creation bytecode was not compared, since it is not known: the constructor or initial"
    " values may differ."
)
IS_OF_OTHER_COMMIT = "not of the submitted commit"
OTHER_COMMIT = f"The compiler is {{}}, {IS_OF_OTHER_COMMIT} {{}}."
WRONG_ARGUMENTS = (
    "These are not the correct constructor arguments. Those of the creating transaction are {}."
)
KEPT = "An equal or better verification was already stored and is kept."
NO_ARGUMENTS = (
    "The creation bytecode is equal, but the {} bytes after it are not the encoding of the"
    " constructor's arguments: they may be too many, too few, gapped or unpadded."
)


@dataclass(frozen=True)
class Verifier:
    """The objects that a verification uses."""

    database: Database
    creations: CreationReader
    compilers: compiler_store.CompilerStore
    places: CompilerPlaces
    stored_bytes: StoredBytes


class IndexedContract(NamedTuple):
    """A contract in the index; `block_number` is the first block with this code."""

    address: bytes
    code_hash: bytes
    code: bytes
    block_number: int


class Verified(NamedTuple):
    """A verified contract. `stored` is False if an equal or better one was stored before."""

    submission: Submission
    match: str
    creation: creation_comparison.Creation
    contract_name: str
    file_path: str
    compiler_version: str
    settings: Mapping[str, Any]
    stored: bool
    fitted: str  # sentences about what was compiled in the place of what was submitted
    left_out: str  # one about what its compiler does not say
    other_commit: str | None = None  # one about a compiler that is not of the submitted commit


def verify(
    verifier: Verifier,
    submission: Submission,
    client: str | None = None,
    outputs: Outputs | None = None,
) -> Verified:
    """Verify a submission and store the result. `outputs` are shared with other submissions.

    A `client` may have only one compiler running or waiting, and store a bounded number of bytes a
    day. Other constructor arguments than those of the creation are refused, and another commit of
    the compiler than a full match proves. Raises NotFound, VerificationFailed, Unavailable,
    RateLimited, InvalidParameter (no such compiler).
    """
    verifier.stored_bytes.check(client)
    contract, creation, code = _deployed(verifier, submission)
    match, abi, stores = _compiled(verifier, submission, code, client, outputs)
    submitted, arguments = submission.constructor_arguments, match.creation.constructor_arguments
    if submitted is not None and arguments not in (None, submitted):
        raise VerificationFailed(WRONG_ARGUMENTS.format(to_hex(arguments or b"")))
    compilers = verifier.compilers.of(submission.language.kind)
    version = _compiler_version(submission, orjson.loads(match.metadata))
    if COMMIT not in version and (commit := compilers.commit(submission.version)):
        version = f"{version}{COMMIT}{commit}"
    other_commit = _other_commit(version, submission)
    if match.level == FULL and other_commit:
        # Solidity's metadata, whose hash the code has, names the compiler; of Vyper a release has
        # one build.
        raise VerificationFailed(other_commit)
    layouts = layouts_of(match, code)
    verified = _store(verifier.database, contract, submission, match, abi, layouts, creation)
    if verified.stored or match.level == FULL:  # of the same source as one that is kept
        _store_findings(verifier.database, contract, match, stores)
    if verified.stored:
        texts = (abi, match.metadata, layouts, *match.submission.sources.values())
        verifier.stored_bytes.add(client, sum(len(text.encode()) for text in texts))
    return verified._replace(other_commit=other_commit)


def verify_again(verifier: Verifier, submission: Submission) -> None:
    """Compile the stored sources of a contract, and store what that gives in the place of what is
    stored of it, but for when it was verified. Raises as verify() does."""
    contract, creation, code = _deployed(verifier, submission)
    match, abi, stores = _compiled(verifier, submission, code, None)
    layouts = layouts_of(match, code)
    key = {"address": contract.address, "code_hash": contract.code_hash}
    with verifier.database.transaction() as tx:
        verified_at = tx.value("verification/verified_contracts_remove", **key)
        _store(tx, contract, submission, match, abi, layouts, creation)
        if verified_at is not None:
            statement = "verification/verified_contracts_set_time"
            tx.execute(statement, **key, verified_at=verified_at)
    _store_findings(verifier.database, contract, match, stores)


def add_findings(verifier: Verifier, submission: Submission, *, gives_way: bool = False) -> bool:
    """Compile the stored sources of a verified contract, store what verify() stores of them besides
    the match, and return whether the compiler gives a source map. `gives_way`: it ends between two
    compilations where others wait. Raises as verify() does."""
    contract = indexed_contract(verifier.database, submission.address)
    code = creation_comparison.DeployedCode(contract.code, None)
    match, _, stores = _compiled(verifier, submission, code, None, gives_way=gives_way)
    return _store_findings(verifier.database, contract, match, stores)


def _deployed(
    verifier: Verifier, submission: Submission
) -> tuple[IndexedContract, bytes | None, creation_comparison.DeployedCode]:
    """Return the contract of a submission, what created it, and the code to compare."""
    contract = indexed_contract(verifier.database, submission.address)
    is_blueprint = creation_comparison.preamble_of(contract.code) is not None
    creation = verifier.creations.input_of(contract.address, contract.block_number)
    code = creation_comparison.DeployedCode(contract.code, None if is_blueprint else creation)
    return contract, creation, code


def _compiled(
    verifier: Verifier,
    submission: Submission,
    code: creation_comparison.DeployedCode,
    client: str | None,
    outputs: Outputs | None = None,
    *,
    gives_way: bool = False,
) -> tuple[Match, str, list[hooks.Store]]:
    """Return the match, its ABI as JSON, and what stores the compiler's other findings."""
    deadline = time.monotonic() + WAIT_S
    text = verifier.database.value(
        "verification/verified_contracts_get_metadata", code_hash=keccak256(code.runtime)
    )
    stated = orjson.loads(text).get("settings") if text else None
    with verifier.places.admitted(client):
        compiler = verifier.compilers.of(submission.language.kind).compiler(submission.version)
        with verifier.places.running(deadline, gives_way=gives_way) as place:
            compilations = Compilations(compiler, submission, code.runtime, place, outputs)
            match = MatchSearch(compilations, code, stated).run()
            compilations.submission = match.submission
            place.begin_anew(FINDINGS_S)  # a match is not lost as the search for it took long
            contract = compilations.with_libraries(match.contract, match.settings)
            match = match._replace(contract=contract)
            stores = [p.read(compilations, match) for p in registry.parts(hooks.CompilerFindings)]
            match = match._replace(left_out=compilations.left_out)
            return match, match.contract.abi_json(), stores


def indexed_contract(database: Database, address: bytes) -> IndexedContract:
    """Return the contract at an address. Raises NotFound, and VerificationFailed for an unsupported
    bytecode format."""
    row = database.row("contracts/contracts_get_code", address=address)
    if row is None or not bytes(row[1]):
        raise NotFound("No contract is indexed at this address.", field="address")
    code_hash, code, block_number = row
    contract = IndexedContract(address, bytes(code_hash), bytes(code), block_number)
    if contract.code.startswith(DELEGATION):
        raise NotFound("This address is a delegating account (EIP-7702), not a contract.")
    if contract.code.startswith(_EOF):
        raise VerificationFailed("Contracts in the EVM Object Format are not supported.")
    return contract


def _store(
    database: Database | Transaction,
    contract: IndexedContract,
    submission: Submission,
    match: Match,
    abi: str,
    layouts: str,
    creation: bytes | None,
) -> Verified:
    metadata = orjson.loads(match.metadata)
    settings = dict(metadata.get("settings", match.settings))
    settings = {n: v for n, v in settings.items() if metadata or n in submission.language.settings}
    target_file = settings.pop("compilationTarget", {match.contract.path: match.contract.name})
    [(file_path, contract_name)] = target_file.items()
    version = _compiler_version(submission, metadata)
    if match.libraries:
        settings["libraries"] = {name: to_hex(at) for name, at in match.libraries.items()}
    pattern = bytecode_comparison.pattern_of(contract.code, match.contract.runtime)
    entries = orjson.loads(match.contract.interface_json() or abi)
    functions, declared = signatures_of(entries), declared_signatures(entries)
    # The file's SPDX license, which the metadata has since 0.6.8.
    stated = metadata.get("sources", {}).get(file_path, {}).get("license")
    stated_license = stated[:100] if isinstance(stated, str) else None
    sources = match.submission.sources
    is_varied = sources != submission.sources
    fitted = f" The sources fit with {variation_of(sources)}." if is_varied else ""
    arguments, creation_code = match.creation.constructor_arguments, None
    if creation is not None and arguments is not None:
        creation_code = creation[: len(creation) - len(arguments)]
    stored = database.value(
        "verification/verified_contracts_insert",
        address=contract.address,
        code_hash=contract.code_hash,
        match=match.level,
        creation_match=match.creation.match,
        contract_name=contract_name,
        file_path=file_path,
        compiler_version=version,
        license=submission.license or stated_license,
        settings=_json(settings),
        abi=abi,
        sources=_json(_sources(match.submission, metadata)),
        constructor_arguments=arguments,
        creation_length=creation_code and len(creation_code),
        creation_hash=creation_code and hashlib.sha256(creation_code).digest(),
        metadata=match.metadata if metadata else None,
        code_length=len(contract.code),
        masked_hash=pattern.masked_hash,
        variable_ranges=pattern.variable,
        code_layouts=layouts,
        selectors=[*functions],
        signatures=[*functions.values()],
        declared_hashes=[hash_ for hash_, _ in declared],
        declared=[signature for _, signature in declared],
    )
    return Verified(
        submission=submission,
        match=match.level,
        creation=match.creation,
        contract_name=contract_name,
        file_path=file_path,
        compiler_version=version,
        settings=settings,
        stored=stored is not None,
        fitted=(fitted + metadata_setting(submission.settings, settings)).strip(),
        left_out=match.left_out,
    )


def _store_findings(
    database: Database, contract: IndexedContract, match: Match, stores: Sequence[hooks.Store]
) -> bool:
    """Store the interface and the compiler's other findings in the place of what was known of the
    code, and return whether these have a source map."""
    key = contract.address, contract.code_hash
    database.rows(
        "verification/interfaces_put",
        address=contract.address,
        code_hash=contract.code_hash,
        interface=match.contract.interface_json(),
    )
    mapped = [store(database, *key) for store in stores]
    database.rows(
        "verification/read_findings_put",
        address=contract.address,
        code_hash=contract.code_hash,
        version=hooks.version_read(),
        reason=None,
    )
    return any(mapped)


def _sources(submission: Submission, metadata: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return the files that the compilation used: the code proves nothing about others."""
    used = list(metadata.get("sources", {}))
    if len(submission.sources) == 1 and len(used) == 1:
        return {used[0]: {"content": next(iter(submission.sources.values()))}}
    return {
        path: {"content": content}
        for path, content in submission.sources.items()
        if path in used or not used
    }


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def _compiler_version(submission: Submission, metadata: Mapping[str, Any]) -> str:
    return str(metadata.get("compiler", {}).get("version", dotted(submission.version)))


def _other_commit(version: str, submission: Submission) -> str | None:
    """Return a sentence where a compiler is not of the submitted commit; None where none was, or
    where its own is unknown."""
    commit, own = submission.commit, version.partition(COMMIT)[2].partition(".")[0]
    is_other = own and commit and own[: len(commit)] != commit[: len(own)]
    return OTHER_COMMIT.format(version, commit) if is_other else None


def message(verified: Verified) -> str:
    creation = verified.creation
    sentences = (
        MESSAGES[verified.match],
        verified.fitted,
        NOT_COMPARED if creation.is_same is None else None,
        None if creation.unread is None else NO_ARGUMENTS.format(len(creation.unread)),
        verified.other_commit,
        verified.left_out,
        None if verified.stored else KEPT,
    )
    return " ".join(filter(None, sentences))
