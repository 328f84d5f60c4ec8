"""Build folders and new contracts, compared with each other: what matches is verified.

A contract that has a build's code is verified like a client's submission: the build's own input is
compiled here and compared, once for all contracts of a build. Until then, and where that is not
possible, its calls and events are decoded by the build's ABI, and a claim says why.
"""

import logging
import math
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec
import orjson

from scan import errors
from scan.database.connection import Database
from scan.extensions.compiled_sources.mapped_code import BuiltCreations, MappedCode
from scan.extensions.contract_details.builds import build_folders, build_formats, build_sources
from scan.extensions.contract_details.builds.build_sources import BuiltCreation
from scan.extensions.contract_details.contract_import.source_records import Record
from scan.extensions.contract_details.contract_page import CLAIMED, clean
from scan.hex import to_hex
from scan.verification.bytecode_comparison import compare_runtime
from scan.verification.contract_interface import interface_of
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME
from scan.verification.request import Submission, parse
from scan.verification.submission_compilations import MAX_ABI_BYTES, Outputs
from scan.verification.verifier import MESSAGES, Verified, Verifier, verify

MAX_BYTES = 128 * 1024 * 1024  # of code and ABIs in memory; what was built last is kept
MAX_CONTRACTS = 10_000  # of which the newest are compared when a build changes
MAX_SEEN = 100_000
MAX_FITTING = 3  # builds with a creation's code whose files are read
MAX_MATCHING = 20  # builds with a contract's code that are tried
MAX_MAPPED = 4  # maps with their sources that are kept: a factory may fail many times in a call
BATCH_ROWS = 100  # codes read at once, of at most 64 KiB
NOTICED_BLOCKS = 10_000  # the newest, in which code without a creation is looked for
FORK_BLOCKS = 64  # which may be replaced by others
LISTING_SHARE = 10  # a listing takes at most one in so many seconds
TRY_AGAIN_S = 600.0  # after which a contract that did not verify by a build is submitted again
OTHERS_S = 61.0  # after which what another process has taken is compared again, as it may have died
MAX_TOGETHER = 32  # contracts whose sources are in memory
PAUSE_S = 2.0  # while compilers are busy or being downloaded
TRIED_FOR_S = 900.0
CLIENT = "builds"  # that verifications are charged to
SOURCE = "build"  # of its claims
WAITING = "its compilation has not ended yet"
UNREADABLE = "the build cannot be read"
NOT_COMPILED = "its source does not compile here; the log says why"
NULL = b"\\u0000"

log = logging.getLogger(__name__)


class _Deployed(NamedTuple):
    """A contract of the chain, and the builds that have its code. The ABI and the claim are those
    of the first; `tried` of them did not verify the
    contract, which waits since a time of the monotonic clock."""

    address: bytes
    code_hash: bytes
    builds: Sequence[build_formats.BuiltContract]
    tried: int = 0
    since: float = 0.0


class Builds(BuiltCreations):
    """The contracts of build folders and their blueprints, by the length of their code, and the
    contracts by their creation code."""

    def __init__(
        self,
        folders: Sequence[Path],
        max_bytes: int = MAX_BYTES,
        listing_share: float = LISTING_SHARE,
    ) -> None:
        self._max_bytes, self._listing_share = max_bytes, listing_share
        self.folders = [folder.resolve() for folder in folders]  # from here on without links
        self.version = 0  # of what they have
        self._states: dict[Path, build_folders.FileState] = {}
        self._contracts: dict[Path, Sequence[build_formats.BuiltContract]] = {}
        self._creations: dict[Path, Sequence[BuiltCreation]] = {}
        self._bytes = 0  # of the contracts
        self._by_length: Mapping[int, Sequence[build_formats.BuiltContract]] = {}
        self._by_creation: Mapping[bytes, Sequence[BuiltCreation]] = {}
        # What was read of files, by the file, path and name; None of a build without sources.
        self._mapped: dict[tuple[Path, str, str], MappedCode | None] = {}
        self._left_out: str | None = None
        self._next_at = 0.0

    @property
    def lengths(self) -> list[int]:
        return sorted(self._by_length)

    def refresh(self) -> bool:
        """Read what is new in the folders, and return whether anything is. Listing takes one in
        `listing_share` seconds at most."""
        started = time.monotonic()
        if started < self._next_at:
            return False
        listing = build_folders.list_files(self.folders)
        self._next_at = started + self._listing_share * (time.monotonic() - started)
        if listing.left_out and listing.left_out != self._left_out:
            log.warning("not all builds are read: %s", listing.left_out)
        self._left_out = listing.left_out
        changed = [f for f, state in listing.files.items() if self._states.get(f) != state]
        removed = self._states.keys() - listing.files.keys()
        for file in removed:
            del self._states[file]
            self._keep(file, ())
            del self._contracts[file], self._creations[file]
        for file in sorted(changed, key=lambda f: -listing.files[f].modified_ns):
            self._states[file] = listing.files[file]
            self._keep(file, _read(file))
        if changed or removed:
            self._by_length = self._indexed()
            self.version += 1
        return bool(changed or removed)

    def _keep(self, file: Path, contracts: Sequence[build_formats.BuiltContract]) -> None:
        """Keep what a file has, as long as there is room: the oldest files give way."""
        self._bytes -= self._size_of(file)
        creations = map(build_sources.creation_of, contracts)
        self._creations[file] = [creation for creation in creations if creation is not None]
        self._contracts[file] = [
            form for built in contracts for form in build_sources.contract_and_blueprint(built)
        ]
        self._bytes += self._size_of(file)
        while self._bytes > self._max_bytes:
            kept = (other for other, its in self._contracts.items() if its)
            oldest = min(kept, key=lambda other: self._states[other].modified_ns)
            self._bytes -= self._size_of(oldest)
            self._contracts[oldest] = self._creations[oldest] = ()
            log.warning(
                "%s is left out: builds have more than %d MiB", oldest, self._max_bytes >> 20
            )

    def _size_of(self, file: Path) -> int:
        contracts, creations = self._contracts.get(file, ()), self._creations.get(file, ())
        return sum(built.size for built in contracts) + sum(made.size for made in creations)

    def _indexed(self) -> Mapping[int, Sequence[build_formats.BuiltContract]]:
        by_length: defaultdict[int, list[build_formats.BuiltContract]] = defaultdict(list)
        newest_first = sorted(self._contracts, key=lambda f: -self._states[f].modified_ns)
        for built in (built for file in newest_first for built in self._contracts[file]):
            by_length[len(built.runtime.code)].append(built)
        count = sum(map(len, by_length.values()))
        log.info("%d contracts in %d files of builds", count, len(self._states))
        by_creation: defaultdict[bytes, list[BuiltCreation]] = defaultdict(list)
        for creation in (creation for file in newest_first for creation in self._creations[file]):
            by_creation[creation.code.search_hash].append(creation)
        self._by_creation = by_creation
        self._mapped = {}
        return by_length

    def find(self, creation: bytes, search_hashes: Iterable[bytes]) -> MappedCode | None:
        """Return the code of a creation by the newest build that has it. Threads of requests call
        it."""
        built = self._by_creation
        candidates = (code for search_hash in search_hashes for code in built.get(search_hash, ()))
        for fitting in islice(candidates, MAX_FITTING):
            if not fitting.code.is_in(creation):
                continue
            read, key = self._mapped, (fitting.built.file, fitting.built.path, fitting.built.name)
            try:
                mapped = read[key]
            except KeyError:
                mapped = self._read_mapped(fitting, creation)
                if len(read) >= MAX_MAPPED:
                    read.clear()
                read[key] = mapped
            if mapped is not None:
                return mapped._replace(code=creation[: fitting.code.size])
        return None

    def _read_mapped(self, fitting: BuiltCreation, creation: bytes) -> MappedCode | None:
        """Return the code with what its file has; None where that is no longer the file of the map,
        as a compiler has just written it."""
        file = fitting.built.file
        mapped = build_sources.mapped(fitting, creation)
        try:
            return mapped if build_folders.state_of(file) == self._states.get(file) else None
        except OSError:
            return None

    def match(self, code: bytes, name: str | None = None) -> Sequence[build_formats.BuiltContract]:
        """Return the builds that have deployed code, or those of a name, of each folder the newest
        of a path and name: those that also have its metadata before others."""
        matching: dict[
            tuple[Path, str, str], tuple[tuple[bool, ...], build_formats.BuiltContract]
        ] = {}
        for built in self._by_length.get(len(code), ()):
            if name not in (None, built.name):
                continue
            comparison = compare_runtime(code, built.runtime, {})
            if comparison.match or comparison.inner_metadata:
                rank = (comparison.match == FULL, comparison.match == PARTIAL)
                origin = (built.file.parent, built.path, built.name)
                if origin not in matching or matching[origin][0] < rank:
                    matching[origin] = rank, built
        ranked = sorted(matching.values(), key=lambda entry: entry[0], reverse=True)
        return [built for _, built in ranked[:MAX_MATCHING]]


def _read(file: Path) -> list[build_formats.BuiltContract]:
    try:
        return [c for c in build_formats.contracts_of(file) if len(c.abi) <= MAX_ABI_BYTES]
    except (build_formats.NoBuild, OSError) as error:
        log.debug("%s is no build: %s", file, error)
        return []


class BuildWatch:
    """Compares new contracts with builds, and has those that match verified."""

    def __init__(
        self, builds: Builds, database: Database, verifier: Verifier, others_s: float = OTHERS_S
    ) -> None:
        self._builds, self._others_s = builds, others_s
        self._database = database
        self._verifier = verifier
        self._seen: set[bytes] = set()  # code hashes, whether a build has the code or not
        self._after = 0
        self._again_at = math.inf
        self._waiting: dict[bytes, _Deployed] = {}
        self._not_before = 0.0  # the next verification
        self._taken_at: dict[tuple[bytes, Path], float] = {}  # by code and folder of a build

    def step(self) -> bool:
        """Compare what is new, and verify what matches; return False: the next step is not due at
        once."""
        if self._builds.refresh() or time.monotonic() > self._again_at:
            self._seen.clear()
            self._after, self._again_at = 0, math.inf
        self._compare()
        self._verify()
        return False

    def _compare(self) -> None:
        lengths = self._builds.lengths
        head = self._database.row("queries/chain_get_head") if lengths else None
        if head is None:
            return
        rows = self._database.rows(
            "builds/contracts_list_new",
            after=self._after,
            noticed_after=max(self._after, head[0] - NOTICED_BLOCKS),
            lengths=lengths,
            limit=MAX_CONTRACTS,
        )
        if len(self._seen) > MAX_SEEN:
            self._seen.clear()
        new = {bytes(code_hash): bytes(address) for code_hash, address in rows}
        hashes = [code_hash for code_hash in new if code_hash not in self._seen]
        for start in range(0, len(hashes), BATCH_ROWS):
            batch = hashes[start : start + BATCH_ROWS]
            rows = self._database.rows("contracts/codes_list", code_hashes=batch)
            codes = {bytes(code_hash): bytes(code) for code_hash, code in rows}
            for code_hash in batch:
                builds = self._builds.match(codes.get(code_hash, b""))
                if any(self._is_due(code_hash, built) for built in builds):
                    self._take(_Deployed(new[code_hash], code_hash, builds, since=time.monotonic()))
            self._seen.update(batch)
        self._after = max(0, head[0] - FORK_BLOCKS)

    def _is_due(self, code_hash: bytes, built: build_formats.BuiltContract) -> bool:
        """Return whether a contract was not taken just now: a build is written anew all the time
        where a compiler watches its sources."""
        taken_at = self._taken_at.get((code_hash, built.file.parent), -TRY_AGAIN_S)
        return time.monotonic() >= taken_at + TRY_AGAIN_S

    def _take(self, deployed: _Deployed) -> None:
        """Store the ABI, unless another process has just done so, and wait for a place."""
        built = deployed.builds[0]
        name = clean(built.name)
        is_taken = self._database.value(
            "builds/built_abis_put", code_hash=deployed.code_hash, name=name, abi=_abi(built)
        )
        if is_taken:
            if len(self._taken_at) > MAX_SEEN:
                self._taken_at.clear()
            for built in deployed.builds:
                self._taken_at[deployed.code_hash, built.file.parent] = time.monotonic()
            self._claim(deployed, WAITING)
            self._waiting[deployed.code_hash] = deployed
        else:
            self._again_at = time.monotonic() + self._others_s

    def _verify(self) -> None:
        """Verify what waits, the newest contracts first, and those of equal settings together."""
        if time.monotonic() < self._not_before:
            return
        groups: defaultdict[str, list[tuple[_Deployed, Submission]]] = defaultdict(list)
        for deployed in [*islice(reversed(self._waiting.values()), MAX_TOGETHER)]:
            if (entry := self._submission(deployed)) is not None:
                groups[build_sources.settings_of(entry[1])].append(entry)
        for group in groups.values():
            outputs: Outputs = {}
            shared = build_sources.together([submission for _, submission in group])
            pairs = zip(group, shared, strict=True)
            for number, ((deployed, submission), one) in enumerate(pairs, 1):
                try:
                    verified = self._verified(submission, one, outputs)
                except (errors.RateLimited, errors.Unavailable) as error:
                    self._not_before = time.monotonic() + PAUSE_S
                    if self._not_before < deployed.since + TRIED_FOR_S:
                        if isinstance(error, errors.CompilerUnavailable):
                            break  # other groups have other compilers
                        return
                    self._failed(deployed, error.message)
                except Exception as error:
                    self._go_on(deployed, error)
                else:
                    del self._waiting[deployed.code_hash]
                    name, address = verified.contract_name, to_hex(deployed.address)
                    log.info("verified %s at %s (%d of %d)", name, address, number, len(group))

    def _submission(self, deployed: _Deployed) -> tuple[_Deployed, Submission] | None:
        """Return the next build of a contract that says what was compiled, and the contract."""
        while deployed.tried < len(deployed.builds):
            built = deployed.builds[deployed.tried]
            try:
                body = build_sources.verification_request(built, to_hex(deployed.address))
                return deployed, parse(body)
            except (build_formats.NoBuild, OSError, errors.ScanError) as error:
                deployed = self._go_on(deployed, error)
        return None

    def _verified(self, own: Submission, shared: Submission, outputs: Outputs) -> Verified:
        """Verify a contract by the compilation that it shares with others, or else by its own, as
        further files may change the code. Raises as verify() does."""
        if shared is not own:
            with suppress(errors.VerificationFailed):
                verified = verify(self._verifier, shared, CLIENT, outputs)
                if verified.match != RUNTIME:
                    return verified
        verified = verify(self._verifier, own, CLIENT)
        if verified.match == RUNTIME:
            raise errors.VerificationFailed(MESSAGES[RUNTIME])
        return verified

    def _go_on(self, deployed: _Deployed, error: Exception) -> _Deployed:
        """Note why a build did not verify a contract. What a compiler says has text of files, which
        only the log may have."""
        is_of_build = isinstance(error, build_formats.NoBuild | errors.ScanError)
        reason = str(error) if is_of_build else UNREADABLE
        trace, address = error if reason is UNREADABLE else None, to_hex(deployed.address)
        log.warning("a build of %s does not verify it: %s", address, error, exc_info=trace)
        is_quoting = isinstance(error, errors.SourceDoesNotCompile)
        return self._failed(deployed, NOT_COMPILED if is_quoting else reason)

    def _failed(self, deployed: _Deployed, reason: str) -> _Deployed:
        """Claim why the first build did not verify a contract, and go on to the next."""
        if deployed.tried == 0:
            self._claim(deployed, reason)
        rest = deployed._replace(tried=deployed.tried + 1)
        if rest.tried < len(rest.builds):
            self._waiting[rest.code_hash] = rest
        else:
            self._waiting.pop(rest.code_hash, None)
        return rest

    def _claim(self, deployed: _Deployed, reason: str) -> None:
        built = deployed.builds[0]
        name, version = clean(f"{built.path}:{built.name}"), clean(built.version)
        record = Record(
            address=to_hex(deployed.address),
            language=built.language,
            contract_name=name,
            compiler_version=version or "",
        )
        self._database.rows(
            "contract_import/contract_claims_put",
            address=deployed.address,
            source=SOURCE,
            code_hash=deployed.code_hash,
            outcome=CLAIMED,
            claimed_match=None,
            reason=clean(reason),
            contract_name=name,
            compiler_version=version or None,
            record=msgspec.json.encode(record).decode(),
        )


def _abi(built: build_formats.BuiltContract) -> str:
    """Return the entries of a build's interface as JSON; none where its ABI is no list of objects,
    or malformed. PostgreSQL takes no text with a null character out of JSON."""
    try:
        abi: object = orjson.loads(built.abi)
        listed = [e for e in abi if isinstance(e, dict)] if isinstance(abi, list) else []
        entries = [*map(orjson.dumps, interface_of(listed, built.selectors or {}))]
    except build_formats.MALFORMED:
        entries = []
    return f"[{','.join(entry.decode() for entry in entries if NULL not in entry)}]"
