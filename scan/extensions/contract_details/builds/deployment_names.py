"""Names of deployed contracts, from what deployments wrote beside the build folders.

An address has the name of the newest deployment that says it created a contract there, once the
code at the address is that of a build of this name and the transaction is the one that created it:
files of an earlier chain name nothing. A name lasts as long as that code and that creation.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from scan.database.connection import Database
from scan.extensions.contract_details.builds import build_folders, deployment_files
from scan.extensions.contract_details.builds.build_watch import LISTING_SHARE, Builds
from scan.extensions.contract_details.builds.deployment_files import Deployment

BATCH_ROWS = 500

log = logging.getLogger(__name__)


class _Contract(NamedTuple):
    """What the index has at an address; `creation` is the hash of the transaction that created it,
    None where that is not indexed."""

    code_hash: bytes
    creation: bytes | None


class DeploymentNames:
    """Compares deployments with the chain, and stores the names of those that are there."""

    def __init__(self, builds: Builds, database: Database) -> None:
        self._builds = builds
        self._database = database
        self._folders = deployment_files.folders_beside(builds.folders)
        self._files: Mapping[Path, build_folders.FileState] = {}
        self._deployments: Mapping[bytes, Sequence[Deployment]] = {}
        self._chain_id: int | None = None
        self._compared = -1, -1  # the versions of the index and of the builds, for all addresses
        self._settled: dict[bytes, _Contract] = {}  # those that were compared
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
        listing = deployment_files.list_runs(self._folders)
        is_same = listing.files == self._files and int(chain_id) == self._chain_id
        if not is_same:
            self._files, self._chain_id = listing.files, int(chain_id)
            of_address: defaultdict[bytes, list[Deployment]] = defaultdict(list)
            for deployment in deployment_files.deployments_of(listing.files, self._chain_id):
                of_address[deployment.address].append(deployment)
            self._deployments = dict(of_address)
            log.info("%d addresses in deployments", len(of_address))
        self._next_at = started + LISTING_SHARE * (time.monotonic() - started)
        return not is_same

    def _compare(self, addresses: Sequence[bytes]) -> None:
        """Store the names of contracts at addresses that were not compared yet."""
        rows = self._database.rows("builds/deployed_contracts_list", addresses=addresses)
        for address, code_hash, creation in rows:
            key = bytes(address)
            contract = _Contract(bytes(code_hash), None if creation is None else bytes(creation))
            if self._settled.get(key) == contract:
                continue
            name = self._name(key, contract)
            self._settled[key] = contract
            if name is not None:
                self._database.rows(
                    "builds/deployment_names_put",
                    address=key,
                    code_hash=contract.code_hash,
                    creation=contract.creation,
                    name=name,
                )

    def _name(self, address: bytes, contract: _Contract) -> str | None:
        fitting = [
            deployment
            for deployment in self._deployments[address]
            if None in (deployment.transaction, contract.creation)
            or deployment.transaction == contract.creation
        ]
        if not fitting:
            return None
        rows = self._database.rows("contracts/codes_list", code_hashes=[contract.code_hash])
        code = bytes(rows[0][1]) if rows else b""
        names = (
            deployment.name(name)
            for deployment in fitting
            for name in self._names_of(deployment, code)
        )
        return next(names, None)

    def _names_of(self, deployment: Deployment, code: bytes) -> Iterator[str]:
        """Yield the contract's name where a build of this name has the code; without a name, that
        of all builds that have it, if it is one."""
        names = {built.name for built in self._builds.match(code, deployment.contract)}
        if len(names) == 1 and deployment_files.is_name(name := names.pop()):
            yield name
