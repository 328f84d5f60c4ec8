"""`scan events`: contracts whose events are tables."""

import argparse
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import orjson

from scan import parameters
from scan.commands import arguments, long_work
from scan.contracts.abi_decoding import MAX_ARGUMENTS, MAX_TYPES
from scan.database.errors import StillUsed
from scan.errors import InvalidParameter, SettingError
from scan.extensions.events.following import NAME, CannotFollow, Children, Following, children_of
from scan.extensions.events.indexing import opened
from scan.extensions.events.queries import FollowedContract
from scan.hex import to_hex
from scan.observability.logs import print_lines
from scan.settings import Settings

MOST_ABI_BYTES = 1024 * 1024
USER, REFUSALS = "scan-events", (CannotFollow, StillUsed)

ADD = """\
Keeps a contract's logs, whatever SCAN_LOGS is, and makes a view for each of its events in the
schema `events`. The indexer continues meanwhile, and completes a run that was interrupted. Logs of
older blocks are filled from stored blocks, else from the node. Without --abi the events are those
of the contract's verification or of a build in SCAN_ARTIFACTS, and of a proxy's implementations.

A view has block_number, timestamp, transaction_hash, log_index, contract, a column for each
argument, and is_malformed. Integers are numeric, addresses and bytes are hex, arrays and tuples are
jsonb with integers as texts. The log of an indexed string, array or tuple has only its hash, in a
column such as title_hash. In strings, U+FFFD replaces NUL and bytes that are not UTF-8. Indexed
arguments also have columns with an index, such as owner_bytes: the 20 bytes of an address, else the
32 bytes of the topic. Logs are decoded when they are stored or their ABI is known, newest first.

Names are in small letters with words apart: tokenId becomes token_id, an argument without a name
argument_2. Characters that SQL does not allow become _, and a name that is taken gets a number,
such as vault_deposit_2 or timestamp_2. Names stay when an ABI or a contract is added; a name such
as from needs quotes. The views of a proxy have the columns of all its implementations.

With --children, ADDRESS is a factory, and the contracts are those that its logs of EVENT name in
--argument, past and future ones, each from that log's block on. Each event in --abi has one view
for all of them, with their address also in contract_bytes, which has an index. None is followed
before all of the factory's own logs are there, which have views, too. A contract that several
factories name belongs to the first one; one that is added by its own address has views of its own
and belongs to no factory."""


NAMES = ("contract", "name", "completeFrom", "isOfBuild", "views", "remarks")


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    add = arguments.add_command(actions, "add", "follow contracts", ADD, run_add)
    add.add_argument("addresses", type=_address, metavar="ADDRESS", nargs="+")
    add.add_argument("--abi", type=Path, metavar="FILE", help="its ABI, or a build's JSON file")
    add.add_argument("--name", type=_name, metavar="NAME", help="with which its views begin")
    text = "its event that names contracts, such as 'PairCreated(address indexed a, address pair)'"
    add.add_argument("--children", metavar="EVENT", help=text)
    text = "the argument that has their addresses; optional if only one is an address"
    add.add_argument("--argument", metavar="NAME", help=text)
    arguments.add_list(actions, "print followed contracts and their views", run_list, NAMES)
    text = "end following a contract, or a factory and its children: views first, logs in steps"
    remove = arguments.add_command(actions, "remove", text, run=run_remove)
    remove.add_argument("address", type=_address, metavar="ADDRESS")
    remove.add_argument("--name", type=_name, metavar="NAME", help="only what is followed as it")


def _address(text: str) -> bytes:
    try:
        return parameters.address(text)
    except InvalidParameter as error:
        raise argparse.ArgumentTypeError(error.message) from None


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            "a name has a-z, 0-9 and _, at most 31 characters, and a letter first"
        )
    return text


def _read_abi(path: Path) -> str:
    """Return the events of an ABI's file, or of a build's, as JSON. Raises SettingError."""
    try:
        if path.stat().st_size > 64 * MOST_ABI_BYTES:
            raise SettingError("--abi", str(path), "is too large")
        abi = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise SettingError("--abi", str(path), f"cannot be read: {error}") from None
    abi = abi.get("abi") if isinstance(abi, dict) else abi
    if not isinstance(abi, list):
        raise SettingError("--abi", str(path), "is no ABI: a list of entries, or a build with one")
    events = [e for e in abi if isinstance(e, dict) and e.get("type") == "event"]
    if not events:
        raise SettingError("--abi", str(path), "has no events")
    text = orjson.dumps(events).replace(b"\\u0000", b"\xef\xbf\xbd")
    if len(text) > MOST_ABI_BYTES:
        raise SettingError("--abi", str(path), "has more than 1 MiB of events")
    return text.decode()


# What it refuses is not continued by the next run.
_begun = partial(
    long_work.begun, name=USER, failures=REFUSALS, needs_node=False, report=long_work.write_line
)


def run_add(settings: Settings, options: argparse.Namespace) -> int:
    """Return DONE once all older logs are there, NOT_DONE where some cannot be filled now."""
    abi = None if options.abi is None else _read_abi(options.abi)
    if options.name is not None and len(options.addresses) > 1:
        raise SettingError("--name", options.name, "is the name of one contract")
    if options.children is None:
        if options.argument is not None:
            raise SettingError("--argument", options.argument, "needs --children")
        return max(_add(settings, address, options.name, abi) for address in options.addresses)
    if abi is None:
        raise SettingError("--children", options.children, "needs the ABI of the contracts: --abi")
    [factory, *others] = options.addresses
    if others:
        raise SettingError("--children", options.children, "is an event of one factory")
    children = children_of(factory, options.children, options.argument)
    return _add(settings, factory, options.name, abi, children)


def _add(
    settings: Settings,
    address: bytes,
    name: str | None,
    abi: str | None,
    children: Children | None = None,
) -> int:
    with _begun(settings) as work, opened(work.settings) as following:
        if children is None:
            return _fill(work, following, following.add(address, name, abi))
        both = following.add_children(children, name, abi or "")
        return max([_fill(work, following, added) for added in both])
    return long_work.NOT_DONE


def _fill(work: long_work.LongWork, following: Following, added: FollowedContract) -> int:
    address = added.address
    following.make_views()
    following.begin_children()
    total = following.missing_blocks(address)
    progress = long_work.Progress(max(total, 1), f"{added.name}: filled")
    problem = None
    while not work.stop.is_set():
        fill = next((f for f in following.fills() if f.address == address), None)
        if fill is None:
            break
        if following.fill(fill) is None:  # perhaps as the indexer fills them, too
            problem = _contract(following, address).problem
            if problem is not None:
                break
            work.stop.wait(long_work.POLL_S)
        progress.show(total - following.missing_blocks(address))
    progress.end()
    following.make_views()
    total = _contract(following, address).undecoded
    progress = long_work.Progress(max(total, 1), f"{added.name}: decoded", unit="logs")
    decoded = 0
    while not work.stop.is_set() and (count := following.decode()):
        progress.show(min(decoded := decoded + count, total))
    progress.end()
    contract = _contract(following, address)
    print_lines(f"{contract.name}: all logs from block {contract.complete_from} on")
    print_lines(*(f"events.{view}" for view in following.views(address)))
    print_lines(*_remarks(contract))
    is_done = (problem or contract.views_problem) is None and not work.stop.is_set()
    return long_work.DONE if is_done else long_work.NOT_DONE


def _remarks(contract: FollowedContract) -> Iterator[str]:
    """Yield whose children it is, and what is not as it was meant to be."""
    if contract.factory:
        yield f"contracts named by {contract.named_by}: {contract.children:,}"
    if contract.problem is not None:
        yield contract.problem
    if not contract.views and contract.views_problem is None and not contract.left_out:
        yield "none of its events are known: its code is neither verified nor built; give --abi"
    if contract.views_problem is not None:
        yield f"views cannot be made: {contract.views_problem}"
    if contract.undecoded:
        yield f"{contract.undecoded:,} logs are not decoded yet: the indexer does this"
    if contract.left_out:
        yield (
            f"events of the ABI without a view: {contract.left_out:,}; they are malformed, or have"
            f" over {MAX_ARGUMENTS} arguments, or come after the ABI's first {MAX_TYPES:,} types"
        )


def _contract(following: Following, address: bytes) -> FollowedContract:
    return next(one for one in following.contracts() if one.address == address)


def run_list(settings: Settings, options: argparse.Namespace) -> int:
    with _begun(settings) as work:
        following = Following(work.database)
        rows = [
            (
                to_hex(contract.factory or contract.address),
                contract.name,
                contract.complete_from,
                contract.is_automatic,
                ", ".join(f"events.{view}" for view in following.views(contract.address)),
                "; ".join(_remarks(contract)),
            )
            for contract in following.contracts()
        ]
        arguments.print_rows(options, rows)
    return long_work.DONE


def run_remove(settings: Settings, options: argparse.Namespace) -> int:
    with _begun(settings) as work:
        following = Following(work.database)
        removed = [
            one.address
            for one in following.contracts()
            if options.name in (None, one.name) and options.address in (one.factory, one.address)
        ]
        for address in sorted(removed, key=len, reverse=True):  # children before their factory
            print_lines(*(f"removed events.{view}" for view in following.remove(address)))
        is_continued = not removed and following.continue_removals()
        while not work.stop.is_set() and following.continue_removals():
            pass
        if removed or is_continued:
            return long_work.NOT_DONE if work.stop.is_set() else long_work.DONE
        print_lines("it is not followed", file=sys.stderr)
    return long_work.NOT_DONE
