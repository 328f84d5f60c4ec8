"""Which lists a record is in, and what is noted of their length, from the node's truth alone."""

from collections import Counter, defaultdict

from tests.support.derived_truth import items, records_by


def list_checkpoints(truth, every=128):
    """Every so manyth entry of each key's list but the first, by list, key and place."""
    block_of = {t["hash"]: t["blockNumber"] for t in truth.transactions}
    entries = entries_of_contract_creations(truth)
    for records, listed in (
        (truth.transactions, _lists_of_transaction),
        (truth.token_transfers, _lists_of_token_transfer),
        (truth.internal_transfers, lambda t: _lists_of_parties(t, "internal_transfers")),
        (truth.dex_trades, _lists_of_trade),
        (truth.logs, _lists_of_log),
    ):
        for ordinal, record in enumerate(reversed(records)):
            hash_ = record.get("transactionHash") or record["hash"]
            for list_, keys in listed(record).items():
                for key in keys - {None}:
                    entries[list_, key].append((ordinal, block_of[hash_]))
    for ordinal, item in items(truth):
        block = item.transfers[0]["blockNumber"]
        entries["token_items_by_token", item.token].append((ordinal, block))
    return checkpoints_of(entries, every)


def checkpoints_of(entries, every):
    """Every so manyth entry but the first, by list, key and place."""
    return {
        (*key, index): dict(zip(("ordinal", "block_number"), sorted(listed)[index], strict=True))
        for key, listed in entries.items()
        for index in range(every, len(listed), every)
    }


def entries_of_user_operations(operations):
    """The lists of user operations, which are given oldest first."""
    roles = {"entry_point": "entryPoint"} | {r: r for r in ("sender", "paymaster", "bundler")}
    return _entries(operations, "user_operations", roles)


def _entries(records, list_, fields):
    """The list of all records, oldest first, and those by the roles that fields name."""
    entries = defaultdict(list)
    counts = Counter()
    for record in records:
        block = record["blockNumber"]
        ordinal = block * 2**20 + counts[block]
        counts[block] += 1
        entries[list_, "0x"].append((ordinal, block))
        for role, field in fields.items():
            if record[field] is not None:
                entries[f"{list_}_by_{role}", record[field]].append((ordinal, block))
    return entries


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
    """The lists of contract creations."""
    roles = {role: role for role in ("creator", "factory")}
    return _entries(contract_creations(truth), "contract_creations", roles)


def list_counts(entries):
    """The number of entries of lists of few rows, by list and key."""
    return {key: {"count": len(listed)} for key, listed in entries.items()}


def _lists_of_transaction(t):
    recipient = t["toAddress"] or t["contractAddress"]
    has_moved = t["status"] and int(t["value"]) > 0
    return {
        "transactions_by_address": {t["fromAddress"], t["toAddress"], t["contractAddress"]},
        "transactions_by_from": {t["fromAddress"]},
        "transactions_by_to": {t["toAddress"]},
        "coin_by_from": {t["fromAddress"]} if has_moved else set(),
        "coin_by_to": {recipient} - {t["fromAddress"]} if has_moved else set(),
    }


def _lists_of_token_transfer(transfer):
    token, item = transfer["tokenAddress"], transfer["tokenId"]
    return {
        **_lists_of_parties(transfer, "token_transfers"),
        "token_transfers_by_token": {token},
        "token_transfers_by_item": set() if item is None else {token + item.encode().hex()},
    }


def _lists_of_parties(transfer, name):
    sender, recipient = transfer["fromAddress"], transfer["toAddress"]
    by_party = {"address": {sender, recipient}, "from": {sender}, "to": {recipient}}
    return {f"{name}_by_{role}": keys for role, keys in by_party.items()}


def _lists_of_trade(trade):
    return {
        "dex_trades_by_maker": {trade["maker"]},
        "dex_trades_by_dex": {"0x" + trade["dex"].encode().hex()},
        "dex_trades_by_pool": {trade["pairAddress"]},
    }


def _lists_of_log(log):
    return {"logs_by_address": {log["address"]}, "logs_by_topic0": set(log["topics"][:1])}
