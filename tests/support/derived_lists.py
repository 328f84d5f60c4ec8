"""Which lists a record is in, and what is noted of their length, from the node's truth alone."""

from collections import Counter, defaultdict

from tests.support.brute_force import LISTED_BY
from tests.support.derived_truth import items, records_by

# Of the filters by which an entity has lists, the last part of the list's name.
PARTIES = {"address": "address", "from": "from", "to": "to"}
NAMES_OF_KEYS = {
    "transactions": PARTIES,
    "token_transfers": {**PARTIES, "tokenAddress": "token"},
    "internal_transfers": PARTIES,
    "dex_trades": {"maker": "maker", "dex": "dex", "pool": "pool"},
    "logs": {"address": "address", "topic0": "topic0"},
}


def _lists_of(entity, record, created):
    """The lists that a record is in, each with its keys."""
    for key, name in NAMES_OF_KEYS[entity].items():
        keys = LISTED_BY[entity, key](record, created)
        hexed = ["0x" + dex.encode().hex() for dex in keys] if key == "dex" else keys
        yield f"{entity}_by_{name}", hexed
    if entity == "token_transfers" and record["tokenId"] is not None:
        item = record["tokenAddress"] + record["tokenId"].encode().hex()
        yield "token_transfers_by_item", [item]
    if entity == "transactions" and record["status"] and int(record["value"]):
        sender, recipient = record["fromAddress"], record["toAddress"] or record["contractAddress"]
        yield "coin_by_from", [sender]
        yield "coin_by_to", {recipient} - {sender}


def list_checkpoints(truth, every=128):
    """Every so manyth entry of each key's list but the first, by list, key and place."""
    entries = entries_of_contract_creations(truth)
    for entity in NAMES_OF_KEYS:
        for ordinal, record in enumerate(reversed(getattr(truth, entity))):
            for list_, keys in _lists_of(entity, record, truth.created):
                for key in {*keys} - {None}:
                    entries[list_, key].append((ordinal, record["blockNumber"]))
    for ordinal, item in items(truth):
        block = item.transfers[0]["blockNumber"]
        entries["token_items_by_token", item.token].append((ordinal, block))
    return {
        (*key, index): dict(zip(("ordinal", "block_number"), sorted(listed)[index], strict=True))
        for key, listed in entries.items()
        for index in range(every, len(listed), every)
    }


def contract_creations(truth):
    """The creations of contracts, oldest first: by each transaction, then inside of it."""
    inside = records_by(truth.internal_transfers[::-1], "transactionHash")
    return [
        {
            "address": address,
            "creator": t["fromAddress"],
            "factory": factory,
            "transactionHash": t["hash"],
            **{name: t[name] for name in ("blockNumber", "transactionIndex", "timestamp")},
        }
        for t in truth.transactions[::-1]
        for address, factory in (
            *([(truth.created[t["hash"]], None)] if t["hash"] in truth.created else ()),
            *(
                (i["toAddress"], i["fromAddress"])
                for i in inside.get(t["hash"], ())
                if i["type"] in ("create", "create2")
            ),
        )
    ]


def entries_of_contract_creations(truth):
    """The list of contract creations, oldest first, and those by creator and by factory."""
    entries, counts = defaultdict(list), Counter()
    for creation in contract_creations(truth):
        block = creation["blockNumber"]
        entry = block * 2**20 + counts[block], block
        counts[block] += 1
        entries["contract_creations", "0x"].append(entry)
        for role in ("creator", "factory"):
            if creation[role] is not None:
                entries[f"contract_creations_by_{role}", creation[role]].append(entry)
    return entries
