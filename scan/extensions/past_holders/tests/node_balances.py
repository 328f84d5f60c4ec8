"""What a token's holders had after a block, by the node: of everybody whom its logs name."""

from tests.support.anvil import ZERO, RpcError


def named(anvil, address):
    """Return every address that the topics of a contract's logs have, in the present chain."""
    logs = anvil.call("eth_getLogs", {"address": address, "fromBlock": "0x0", "toBlock": "latest"})
    topics = {topic for log in logs for topic in log["topics"][1:]}
    return sorted({f"0x{topic[-40:]}" for topic in topics} - {ZERO})


def reads(anvil, contract, function, arguments, block):
    """Return what a function returned after a block for each arguments; None where it reverted, or
    was not there."""
    calls = [
        ("eth_call", ({"to": contract.address, "data": contract.data(function, *args)}, hex(block)))
        for args in arguments
    ]
    return [
        None if isinstance(result, RpcError) or result == "0x" else int(result, 16)
        for result in anvil.batch(calls)
    ]


def balances(anvil, coin, block):
    """Return {holder: balance}."""
    holders = named(anvil, coin.address)
    read = reads(anvil, coin, "balanceOf", [(holder,) for holder in holders], block)
    return {holder: balance for holder, balance in zip(holders, read, strict=True) if balance}


def owners(anvil, collectible, ids, block):
    """Return {holder: {id: 1}} of an ERC-721."""
    held = {}
    read = reads(anvil, collectible, "ownerOf", [(id_,) for id_ in ids], block)
    for id_, owner in zip(ids, read, strict=True):
        if owner:
            held.setdefault(f"0x{owner:040x}", {})[id_] = 1
    return held


def amounts(anvil, items, ids, block):
    """Return {holder: {id: amount}} of an ERC-1155."""
    pairs = [(holder, id_) for holder in named(anvil, items.address) for id_ in ids]
    held = {}
    read = reads(anvil, items, "balanceOf", pairs, block)
    for (holder, id_), amount in zip(pairs, read, strict=True):
        if amount:
            held.setdefault(holder, {})[id_] = amount
    return held
