"""Names of deployed contracts, from what deployments wrote beside the build folders.

An address has the name of the newest deployment that says it created a contract there, once the
code at the address is that of a build of this name and the transaction is the one that created it:
files of an earlier chain name nothing. A name lasts as long as that code and that creation.
"""

import logging
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from scan.database.connection import Database
from scan.extensions.contract_details.builds import build_folders, deployment_files
from scan.extensions.contract_details.builds.build_watch import LISTING_SHARE, Builds
from scan.extensions.contract_details.builds.deployment_files import Deployment

BATCH_ROWS = 500

log = logging.getLogger(__name__)


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
            if deployment.transaction in (None, creation) or creation is None:
                names = {built.name for built in self._builds.match(code, deployment.contract)}
                if len(names) == 1 and deployment_files.is_name(name := names.pop()):
                    return deployment.name(name)
        return None
