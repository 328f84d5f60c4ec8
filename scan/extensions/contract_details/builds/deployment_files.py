"""What deployments write beside a build folder: which contract was created where.

Foundry's `broadcast/<script>/<chain>/<function>-latest.json`, of the newest run of a script, and
Hardhat Ignition's `ignition/deployments/chain-<chain>/deployed_addresses.json`. Files of strangers:
what does not fit its form is no deployment, and what they say of an address is compared with its
code before it is shown.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import msgspec

from scan import parameters
from scan.cached_values import json_decoder
from scan.errors import InvalidParameter
from scan.extensions.contract_details.builds import build_folders
from scan.extensions.contract_details.builds.build_formats import MALFORMED
from scan.extensions.contract_details.contract_page import clean

BROADCAST, IGNITION = "broadcast", "ignition/deployments"
LATEST, ADDRESSES = "-latest.json", "deployed_addresses.json"
MAX_RUNS = 500  # files that are read, the newest
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024  # read at once
MAX_DEPLOYMENTS = 2_000  # in all, of the newest files
MAX_ORIGIN = 100
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,99}")


log = logging.getLogger(__name__)


class Deployment(NamedTuple):
    """A contract that a deployment says it created. `transaction` is the hash of the creation's,
    None where it is not said; `contract` the contract's name, None where only its code tells it.
    `number` is its own among those of this name in the run, `origin` names the script."""

    address: bytes
    transaction: bytes | None
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


class _Run(msgspec.Struct):
    """A run of a script on one chain."""

    chain: int | None = None
    transactions: list[_Sent] | None = None


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
            yield from _deployment(address, sent.hash, contract, count, script)


def _deployment(
    address: str | None, transaction: str | None, contract: str | None, count: int, origin: str
) -> Iterator[Deployment]:
    """Yield the deployment, unless its address, hash or name is malformed."""
    if contract is not None and not is_name(contract):
        return
    with suppress(InvalidParameter):
        hash_ = parameters.hash32(transaction) if transaction else None
        shown = clean(origin[:MAX_ORIGIN]) or BROADCAST
        yield Deployment(parameters.address(address), hash_, contract, count, shown)


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
