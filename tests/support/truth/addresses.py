"""Addresses: where they were seen, what the node says of them, how many transactions they have."""

from collections import Counter, defaultdict

from tests.support.truth.internal_transfers import created_in, internal_transfers
from tests.support.truth.reading import batched, quantity

DELEGATION = "0xef0100"  # how the code of an account begins that delegates it (EIP-7702)


def addresses(chain, transfers, transactions):
    seen = defaultdict(list)
    for address, block in sightings(chain, transfers):
        seen[address].append(block)
    counts = Counter()
    for t in transactions:
        counts.update({t["fromAddress"], t["toAddress"], chain.created.get(t["hash"])} - {None})
    at_head = [(address, hex(chain.head)) for address in seen]
    balances = batched(chain.node, [("eth_getBalance", pair) for pair in at_head])
    codes = batched(chain.node, [("eth_getCode", pair) for pair in at_head])
    return {
        address: {
            "address": address,
            "balance": str(quantity(balance)),
            "txCount": counts[address],
            "isContract": is_contract(code),
            "unproven": ["balance", "isContract"],
            **delegation(code),
            "label": None,
            "firstSeen": chain.timestamps[min(blocks)],
            "lastSeen": chain.timestamps[max(blocks)],
        }
        for (address, blocks), balance, code in zip(seen.items(), balances, codes, strict=True)
    }


def sightings(chain, transfers):
    for block in chain.blocks:
        number = quantity(block["number"])
        yield block["miner"].lower(), number
        for transaction in block["transactions"]:
            yield transaction["from"].lower(), number
            if transaction["to"]:
                yield transaction["to"].lower(), number
            for address in creations(chain, transaction["hash"]):
                yield address, number
        for withdrawal in block.get("withdrawals") or ():
            yield withdrawal["address"].lower(), number
    for transfer in internal_transfers(chain):
        yield transfer["fromAddress"], transfer["blockNumber"]
        yield transfer["toAddress"], transfer["blockNumber"]
    for log in chain.logs:
        yield log.address, log.block
    for transfer in transfers:
        yield transfer["fromAddress"], transfer["blockNumber"]
        yield transfer["toAddress"], transfer["blockNumber"]


def creations(chain, transaction_hash):
    direct = chain.created.get(transaction_hash)
    trace = chain.traces.get(transaction_hash)
    return ([direct] if direct else []) + (created_in(trace) if trace else [])


def is_contract(code):
    """An account that delegates its code (EIP-7702) has some, and is no contract."""
    delegated = code.startswith(DELEGATION) and len(code) == 2 + 2 * 23
    return code != "0x" and not delegated


def delegation(code):
    """Whose code runs in an account's name, where it delegates."""
    delegate = code.removeprefix(DELEGATION)
    return {"delegate": f"0x{delegate}"} if delegate != code else {}
