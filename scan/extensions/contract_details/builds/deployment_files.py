"""What deployments write beside a build folder: which contract was created where, by which run.

Foundry's `broadcast/<script>/<chain>/run-<milliseconds>.json`, with `<function>-latest.json` as a
copy of the newest, and Hardhat Ignition's `ignition/deployments/<id>/journal.jsonl`, with
deployed_addresses.json where the journal is not kept. Files of strangers: what does not fit its
form is no deployment, and what they say of an address is compared with its code before it is shown.
"""

import logging
import re
from collections import Counter, defaultdict
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

BROADCAST, MULTI, IGNITION = "broadcast", "multi", Path("ignition/deployments")
JOURNAL, ADDRESSES = "journal.jsonl", "deployed_addresses.json"
SUFFIXES = (".json", ".jsonl")
MAX_RUNS = 500  # files that are read, the newest
MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024  # read at once
MAX_DEPLOYMENTS = 2_000  # in all, of the newest files
MAX_ORIGIN = 100
_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]{0,99}")
_NUMBERED = re.compile(r"run-([0-9]{1,16})\.json")


log = logging.getLogger(__name__)


class Deployment(NamedTuple):
    """A contract that a deployment says it created. `transaction` is the hash of the creation's,
    None where it is not said; `contract` the contract's name, None where only its code tells it.
    `number` is its own among those of this name in the run, `origin` names the run."""

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
    """A run of a script on one chain, or its runs on several."""

    chain: int | None = None
    timestamp: int = 0
    transactions: list[_Sent] | None = None
    deployments: "list[_Run] | None" = None


class _Receipt(msgspec.Struct, rename="camel"):
    contract_address: str | None = None


class _Result(msgspec.Struct):
    address: str | None = None


class _Entry(msgspec.Struct, rename="camel"):
    """A line of a journal; each kind has some of the fields."""

    type: str = ""
    chain_id: int | None = None
    future_id: str = ""
    contract_name: str | None = None
    hash: str | None = None
    receipt: _Receipt | None = None
    result: _Result | None = None


def folders_beside(builds: Iterable[Path]) -> list[Path]:
    """Return the folders of deployments of the projects whose build folders these are."""
    projects = {folder.parent: None for folder in builds}
    return [project / inner for project in projects for inner in (BROADCAST, IGNITION)]


def list_runs(folders: Iterable[Path]) -> build_folders.Listing:
    return build_folders.list_files(folders, max_file_bytes=MAX_FILE_BYTES, suffixes=SUFFIXES)


def deployments_of(
    files: Mapping[Path, build_folders.FileState], chain_id: int
) -> list[Deployment]:
    """Return what the newest files say was created on this chain, the newest first."""
    deployments: list[Deployment] = []
    left = MAX_BYTES
    runs = _numbers(files)
    of_chain = [file for file in files if _form(file, chain_id)]
    of_chain.sort(key=lambda file: (files[file].modified_ns, file.name), reverse=True)
    for file in of_chain[:MAX_RUNS]:
        left -= files[file].size
        if left < 0:
            break
        try:
            most = MAX_DEPLOYMENTS - len(deployments)
            deployments += islice(_of_file(file, chain_id, runs), most)
        except (OSError, *MALFORMED) as error:
            log.debug("%s is no deployment: %s", file, error)
    return deployments


def _form(file: Path, chain_id: int) -> str:
    """Return what a file has by its path, "" where that is nothing of this chain."""
    *_, outer, above, folder, name = ("", "", "", *file.parts)
    if (outer, above) == IGNITION.parts:
        by_addresses = name == ADDRESSES and folder == f"chain-{chain_id}"
        return name if name == JOURNAL or by_addresses else ""
    if (outer, above) == (BROADCAST, MULTI):
        return MULTI
    return BROADCAST if outer == BROADCAST and folder == str(chain_id) else ""


def _numbers(files: Iterable[Path]) -> dict[Path, dict[int, int]]:
    """Return the numbers of runs by their times, of each folder of a script and a chain."""
    times: defaultdict[Path, list[int]] = defaultdict(list)
    for file in files:
        if match := _NUMBERED.fullmatch(file.name):
            times[file.parent].append(int(match[1]))
    return {
        folder: {time: number for number, time in enumerate(sorted(of_folder), 1)}
        for folder, of_folder in times.items()
    }


def _of_file(
    file: Path, chain_id: int, runs: Mapping[Path, Mapping[int, int]]
) -> Iterator[Deployment]:
    content, form = build_folders.read_json(file), _form(file, chain_id)
    if form == JOURNAL:
        yield from _of_journal(content, chain_id)
    elif form == ADDRESSES:
        if not file.with_name(JOURNAL).exists():
            for future, address in json_decoder(dict[str, str]).decode(content).items():
                yield from _deployment(address, None, None, 1, future)
    elif form == MULTI:  # a script of several chains
        for run in json_decoder(_Run).decode(content).deployments or ():
            yield from _of_run(run, chain_id, file.parent.name.rpartition("-")[0])
    else:
        run, script = json_decoder(_Run).decode(content), file.parts[-3]
        number = runs.get(file.parent, {}).get(run.timestamp)
        yield from _of_run(run, chain_id, f"{script}, run {number}" if number else script)


def _of_run(run: _Run, chain_id: int, origin: str) -> Iterator[Deployment]:
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
            yield from _deployment(address, sent.hash, contract, count, origin)


def _of_journal(content: bytes, chain_id: int) -> Iterator[Deployment]:
    decode = json_decoder(_Entry).decode
    names: dict[str, str | None] = {}
    hashes: dict[str, str | None] = {}
    created: dict[str, str | None] = {}
    for line in content.splitlines():
        entry = decode(line) if line.strip() else _Entry()
        if entry.type == "DEPLOYMENT_INITIALIZE" and entry.chain_id != chain_id:
            return
        if entry.type == "DEPLOYMENT_EXECUTION_STATE_INITIALIZE":
            names[entry.future_id] = entry.contract_name
        elif entry.type == "TRANSACTION_CONFIRM":
            hashes[entry.future_id] = entry.hash
        elif entry.type == "DEPLOYMENT_EXECUTION_STATE_COMPLETE" and entry.result:
            created[entry.future_id] = entry.result.address
    for future, address in created.items():
        yield from _deployment(address, hashes.get(future), names.get(future), 1, future)


def _deployment(
    address: str | None, transaction: str | None, contract: str | None, count: int, origin: str
) -> Iterator[Deployment]:
    """Yield the deployment, unless its address, hash or name is malformed."""
    if contract is not None and not is_name(contract):
        return
    with suppress(InvalidParameter):
        hash_ = parameters.hash32(transaction) if transaction else None
        origin = clean(origin[:MAX_ORIGIN]) or BROADCAST
        yield Deployment(parameters.address(address), hash_, contract, count, origin)


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None
