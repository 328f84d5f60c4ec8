"""What is requested of the demo chain besides what indexing reads: all that its pages show."""

from collections.abc import Iterable, Iterator
from typing import Any

from eth_utils import to_checksum_address

from demo.scenario import SAVER
from demo.town import COINS, TRADERS, Town
from scan.extensions.demo.demo_chain import recorded_options
from scan.extensions.explanations.storage import mapping_keys
from scan.extensions.explanations.transactions import failing_steps
from scan.extensions.explanations.transactions.state_changes import STATE
from scan.extensions.items.queries import SELECTORS
from scan.extensions.traces.transaction_traces import CALLS
from tests.support.anvil import Anvil, Contract, Node
from tests.support.database import execute
from tests.support.scenario.stage import GWEI, STRANGERS


def ask_for_uris(node: Node, url: str, head: int) -> None:
    """What pages of items ask: tokenURI, or uri, of each."""
    items = execute(
        url,
        "SELECT DISTINCT '0x' || encode(t.address, 'hex'), x.token_id::text, t.type"
        " FROM token_transfers x JOIN tokens t ON t.address = x.token_address"
        " WHERE x.token_id IS NOT NULL ORDER BY 1, 2",
    )
    calls = [
        ("eth_call", [{"to": token, "data": f"0x{SELECTORS[type_]}{int(id_):064x}"}, hex(head)])
        for token, id_, type_ in items
    ]
    for n in range(0, len(calls), 100):
        node.batch(calls[n : n + 100])


def ask_for_traces(node: Node, anvil: Anvil, first_with_steps: int) -> None:
    """What the tabs of transactions ask: of the last blocks and of failures, steps as well."""
    for number in range(anvil.head() + 1):
        for receipt in anvil.call("eth_getBlockReceipts", hex(number)):
            is_failed = receipt["status"] == "0x0"
            tracers = [CALLS[0][1], STATE[0][1]]
            if number >= first_with_steps or is_failed:
                tracers += [mapping_keys.TRACER]
            if is_failed:
                tracers.append(failing_steps.TRACER)
            hash_ = receipt["transactionHash"]
            node.batch(("debug_traceTransaction", [hash_, tracer]) for tracer in tracers)


def recorded(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as the file has it: tracers by their names."""
    if row["method"] != "debug_traceTransaction":
        return row
    hash_, options = row["params"]
    return {**row, "params": [hash_, recorded_options(options)]}


def ask_for_pool(node: Node, town: Town) -> None:
    """The pool, in which two transactions wait for ever: one pays too little, the other one comes
    after a nonce that is missing."""
    town.anvil.call("anvil_setNextBlockBaseFeePerGas", "0x1")  # for anvil to accept them
    for nonce in (0, 2):
        signed = SAVER.sign_transaction(
            {
                "chainId": 31337,
                "type": 2,
                "nonce": nonce,
                "to": to_checksum_address(town.contracts["dollar"].address),
                "data": town.contracts["dollar"].data("transfer", town.people[3], 250 * 10**6),
                "gas": 80_000,
                "maxFeePerGas": GWEI // 20,  # of the least that a block of the demo takes, a sixth
                "maxPriorityFeePerGas": GWEI // 100,
            }
        )
        town.anvil.call("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())
    for method in ("txpool_content", "txpool_status"):
        node.call(method)


def ask_for_views(node: Node, town: Town, blocks: Iterable[int]) -> None:
    """Requests for views of the demo's contracts at the first of these blocks, and after it at
    those that changed what they return: all would take gigabytes."""
    people = [*town.people, *STRANGERS]
    contracts = [*town.contracts.values(), *town.pools.values()]
    calls = [call for contract in contracts for call in views(contract, people)]
    calls += approvals(town)
    results: dict[int, str] = {}
    for block in map(hex, blocks):
        for first in range(0, len(calls), 100):
            batch = [("eth_call", [call, block]) for call in calls[first : first + 100]]
            new = {first + n: repr(result) for n, result in enumerate(town.anvil.batch(batch))}
            node.batch(batch[n - first] for n in new if results.get(n) != new[n])
            results |= new


def approvals(town: Town) -> Iterator[dict[str, str]]:
    """What people have approved, and may take back."""
    spenders = {key: [town.contracts["router"].address] for key in (*COINS, "weth")}
    for key in ("dollar", "anchor"):
        spenders[key].append(town.pools["pancake dollar/anchor"].address)
    for who in (0, *TRADERS):
        for key, addresses in spenders.items():
            for spender in addresses:
                yield call_of(town.contracts[key], "allowance", town.people[who], spender)
    savings, dollar = town.contracts["savings"].address, town.contracts["dollar"]
    for owner in town.people:
        yield call_of(dollar, "allowance", owner, savings)
    yield call_of(dollar, "allowance", town.people[10], STRANGERS[5])
    operator = (town.people[12], town.contracts["procession"].address)
    yield call_of(town.contracts["lanterns"], "isApprovedForAll", *operator)


def ask_for_accounts(node: Node, town: Town) -> None:
    """Requests that views will make for the demo's contracts and accounts at its head."""
    contracts = [*town.contracts.values(), *town.pools.values()]
    addresses = [c.address for c in contracts] + [*town.people, *STRANGERS]
    calls: list[tuple[str, list[Any]]] = []
    for method in ("eth_getBalance", "eth_getCode", "eth_getTransactionCount"):
        calls += [(method, [address, "latest"]) for address in addresses]
    calls += [("eth_chainId", []), ("net_version", []), ("web3_clientVersion", [])]
    for n in range(0, len(calls), 100):
        node.batch(calls[n : n + 100])


def views(contract: Contract, people: Iterable[str]) -> Iterator[dict[str, str]]:
    """Every view function without arguments, and the balances of all holders."""
    for entry in contract.artifact.abi:
        if entry["type"] != "function" or not (
            entry.get("stateMutability") in ("view", "pure") or entry.get("constant") is True
        ):
            continue
        inputs = [parameter["type"] for parameter in entry["inputs"]]
        if not inputs:
            yield call_of(contract, entry["name"])
        elif inputs == ["address"]:
            yield from (call_of(contract, entry["name"], person) for person in people)
        elif entry["name"] == "balanceOf" and inputs == ["address", "uint256"]:
            yield from (call_of(contract, "balanceOf", person, 7) for person in people)
        elif entry["name"] in ("ownerOf", "tokenURI"):
            yield from (call_of(contract, entry["name"], n) for n in range(4))
        elif entry["name"] == "supportsInterface":
            for interface in ("01ffc9a7", "80ac58cd", "d9b67a26"):
                yield call_of(contract, "supportsInterface", bytes.fromhex(interface))


def call_of(contract: Contract, function: str, *args: Any) -> dict[str, str]:
    return {"to": contract.address, "data": contract.data(function, *args)}
