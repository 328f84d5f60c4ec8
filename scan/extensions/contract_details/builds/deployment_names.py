"""Names of deployed contracts, from what deployments wrote beside the build folders.

An address has the name of the newest deployment that says it created a contract there, once the
code at the address is that of a build of this name and a transaction of the run created it:
files of an earlier chain name nothing. A name lasts as long as that code and that creation.

Foundry writes `broadcast/<script>/<chain>/<function>-latest.json`, of the newest run of a script,
and Hardhat Ignition `ignition/deployments/chain-<chain>/deployed_addresses.json`. Files of
strangers: what does not fit its form is no deployment.
"""

import logging
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from scan import parameters
from scan.cached_values import json_decoder
from scan.database.connection import Database
from scan.errors import InvalidParameter
from scan.extensions.contract_details.builds import build_folders
from scan.extensions.contract_details.builds.build_formats import MALFORMED
from scan.extensions.contract_details.builds.build_watch import LISTING_SHARE, Builds
from scan.extensions.contract_details.contract_page import clean

BROADCAST, IGNITION = "broadcast", "ignition/deployments"
LATEST, ADDRESSES = "-latest.json", "deployed_addresses.json"
MAX_RUNS = 500  # files that are read, the newest
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024  # read at once
MAX_DEPLOYMENTS = 2_000  # in all, of the newest files
MAX_ORIGIN = 100
_HASH = re.compile(r"0x[0-9a-fA-F]{64}")
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,99}")


log = logging.getLogger(__name__)


class Deployment(NamedTuple):
    """A contract that a deployment says it created. `transactions` are hashes of those of which one
    did, None where they are not said; `contract` is its name, None where only its code tells it.
    `number` is its own among those of this name in the run, `origin` names the script."""

    address: bytes
    transactions: frozenset[bytes] | None
    contract: str | None
    number: int
    origin: str

    def name(self, contract: str) -> str:
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{contract}{number} ({self.origin})"


class _Additional(msgspec.Struct, rename="camel"):
    address: str | None = None
    contract_name: str | None = None


class _Sent(msgspec.Struct, rename="camel"):
    hash: str | None = None
    transaction_type: str = ""
    contract_name: str | None = None
    contract_address: str | None = None
    additional_contracts: list[_Additional] | None = None


class _Receipt(msgspec.Struct, rename="camel"):
    transaction_hash: str | None = None


class _Run(msgspec.Struct):
    """A run of a script on one chain. Each of its transactions has the hash of one of them: forge
    writes hashes in the order in which the node answered."""

    chain: int | None = None
    transactions: list[_Sent] | None = None
    receipts: list[_Receipt] | None = None


def folders_beside(builds: Iterable[Path]) -> list[Path]:
    """Return the folders of deployments of the projects whose build folders these are."""
    projects = {folder.parent: None for folder in builds}
    return [project / inner for project in projects for inner in (BROADCAST, IGNITION)]


def list_runs(folders: Iterable[Path]) -> build_folders.Listing:
    return build_folders.list_files(
        folders, max_file_bytes=MAX_FILE_BYTES, suffixes=(LATEST, ADDRESSES)
    )


def deployments_of(
    files: Mapping[Path, build_folders.FileState], chain_id: int
) -> list[Deployment]:
    """Return what the newest files say was created on this chain, the newest first."""
    deployments: list[Deployment] = []
    left = MAX_BYTES
    names = str(chain_id), f"chain-{chain_id}"
    of_chain = [file for file in files if file.parent.name in names]
    of_chain.sort(key=lambda file: (files[file].modified_ns, file.name), reverse=True)
    for file in of_chain[:MAX_RUNS]:
        left -= files[file].size
        if left < 0:
            break
        try:
            most = MAX_DEPLOYMENTS - len(deployments)
            deployments += islice(_of_file(file, chain_id), most)
        except (OSError, *MALFORMED) as error:
            log.debug("%s is no deployment: %s", file, error)
    return deployments


def _of_file(file: Path, chain_id: int) -> Iterator[Deployment]:
    content = build_folders.read_json(file)
    if file.name == ADDRESSES:
        for future, deployed in json_decoder(dict[str, str]).decode(content).items():
            yield from _deployment(deployed, None, None, 1, future)
        return
    run, script = json_decoder(_Run).decode(content), file.parts[-3]
    if run.chain != chain_id:
        return
    texts = {sent.hash for sent in run.transactions or ()}
    texts |= {receipt.transaction_hash for receipt in run.receipts or ()}
    known = frozenset(parameters.hash32(text) for text in texts if text and _HASH.fullmatch(text))
    hashes = known if texts - {None} else None
    counts: Counter[str | None] = Counter()
    for sent in run.transactions or ():
        created = [
            (inner.address, inner.contract_name) for inner in sent.additional_contracts or ()
        ]
        if sent.transaction_type in ("CREATE", "CREATE2"):
            created.insert(0, (sent.contract_address, sent.contract_name))
        for address, name in created:
            # forge writes `src/Vault.sol:Vault` where names are not unique.
            contract = name.rpartition(":")[2] if name else None
            counts[contract] += 1
            count = counts[contract] if contract else 1
            yield from _deployment(address, hashes, contract, count, script)


def _deployment(
    address: str | None,
    transactions: frozenset[bytes] | None,
    contract: str | None,
    count: int,
    origin: str,
) -> Iterator[Deployment]:
    """Yield the deployment, unless its address or name is malformed."""
    if contract is not None and not is_name(contract):
        return
    with suppress(InvalidParameter):
        shown = clean(origin[:MAX_ORIGIN]) or BROADCAST
        yield Deployment(parameters.address(address), transactions, contract, count, shown)


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


BATCH_ROWS = 500


class DeploymentNames:
    """Compares deployments with the chain, and stores the names of those that are there."""

    def __init__(self, builds: Builds, database: Database) -> None:
        self._builds = builds
        self._database = database
        self._folders = folders_beside(builds.folders)
        self._files: Mapping[Path, build_folders.FileState] = {}
        self._deployments: Mapping[bytes, Sequence[Deployment]] = {}
        self._chain_id: int | None = None
        self._compared = -1, -1  # the versions of the index and of the builds, for all addresses
        # The hashes of code and of the transaction that created it (None: not indexed) of those
        # addresses that were compared.
        self._settled: dict[bytes, tuple[bytes, bytes | None]] = {}
        self._next_at = 0.0

    def step(self) -> None:
        """Read files that changed, and compare them with contracts that are new."""
        changed = self._read()
        if not self._deployments:
            return
        state = self._database.value("http/index_get_newest"), self._builds.version
        if changed or state[1] != self._compared[1]:
            self._settled.clear()
        elif state == self._compared:
            return
        addresses = iter(self._deployments)
        while batch := [*islice(addresses, BATCH_ROWS)]:
            self._compare(batch)
        self._compared = state

    def _read(self) -> bool:
        """Read the files where one of them is new, and return whether one is. Listing takes a
        tenth of the time at most."""
        started = time.monotonic()
        if started < self._next_at:
            return False
        chain_id = self._database.value("queries/chain_get_id")
        if chain_id is None:
            return False
        listing = list_runs(self._folders)
        is_same = listing.files == self._files and int(chain_id) == self._chain_id
        if not is_same:
            self._files, self._chain_id = listing.files, int(chain_id)
            of_address: defaultdict[bytes, list[Deployment]] = defaultdict(list)
            for deployment in deployments_of(listing.files, self._chain_id):
                of_address[deployment.address].append(deployment)
            self._deployments = dict(of_address)
            log.info("%d addresses in deployments", len(of_address))
        self._next_at = started + LISTING_SHARE * (time.monotonic() - started)
        return not is_same

    def _compare(self, addresses: Sequence[bytes]) -> None:
        """Store the names of contracts at addresses that were not compared yet."""
        rows = self._database.rows("builds/deployed_contracts_list", addresses=addresses)
        for row in rows:
            key, code_hash = map(bytes, row[:2])
            creation = None if row[2] is None else bytes(row[2])
            if self._settled.get(key) == (code_hash, creation):
                continue
            self._settled[key] = code_hash, creation
            if (name := self._name(key, code_hash, creation)) is not None:
                self._database.rows(
                    "builds/deployment_names_put",
                    address=key,
                    code_hash=code_hash,
                    creation=creation,
                    name=name,
                )

    def _name(self, address: bytes, code_hash: bytes, creation: bytes | None) -> str | None:
        """Return the name by the newest deployment of an address whose contract is that of a build
        of this name; where the deployment has none, that of all builds with the code, if it is
        one."""
        rows = self._database.rows("contracts/codes_list", code_hashes=[code_hash])
        code = bytes(rows[0][1]) if rows else b""
        for deployment in self._deployments[address]:
            hashes = deployment.transactions
            if hashes is None or creation is None or creation in hashes:
                names = {built.name for built in self._builds.match(code, deployment.contract)}
                if len(names) == 1 and is_name(name := names.pop()):
                    return deployment.name(name)
        return None
