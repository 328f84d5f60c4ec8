"""What derived tables must hold, worked out in plain Python from the node's truth alone.

The rules of these tables stand once in the service, so that nothing there would notice a fault in
one: this is their second statement. A table is a dict of its rows, each with the columns that it
counts.
"""

from collections import Counter, defaultdict, namedtuple

from tests.support.items import items_of
from tests.support.truth.reading import ZERO
from tests.support.truth.tokens import balances_of

COUNTERS = """
    transaction_count sent_count received_count transfer_count transfer_sent_count
    transfer_received_count trade_count internal_count internal_sent_count internal_received_count
    log_count coin_sent_count coin_received_count withdrawal_count produced_count net_wei item_count
""".split()


class Withdrawal(namedtuple("Withdrawal", "block address amount_wei")):
    """A withdrawal that a test adds to the scenario, which has none."""


def addresses(truth, withdrawals=()):
    """The counters of every address and the first and the last block that have it, by address."""
    rows = defaultdict(lambda: dict.fromkeys(COUNTERS, 0))
    number_at = {block["timestamp"]: block["number"] for block in truth.blocks}
    for address, record in truth.addresses.items():
        rows[address]["first_seen"] = number_at[record["firstSeen"]]
        rows[address]["last_seen"] = number_at[record["lastSeen"]]
    acts = [*_acts(truth), *((w.address, w.block) for w in withdrawals)]
    last_acts = dict(sorted(acts, key=lambda act: act[1]))
    for withdrawal in withdrawals:
        row, block = rows[withdrawal.address], withdrawal.block
        row["first_seen"] = min(row.get("first_seen", block), block)
        row["last_seen"] = max(row.get("last_seen", block), block)
        row["withdrawal_count"] += 1
        row["net_wei"] += withdrawal.amount_wei
    for address in rows:
        rows[address]["last_acted"] = last_acts.get(address, 0)
    _add_transactions(rows, truth)
    for transfer in truth.token_transfers:
        _add_parties(rows, transfer, "transfer")
    for transfer in truth.internal_transfers:
        _add_parties(rows, transfer, "internal")
        rows[transfer["fromAddress"]]["net_wei"] -= int(transfer["value"])
        rows[transfer["toAddress"]]["net_wei"] += int(transfer["value"])
    for trade in truth.dex_trades:
        rows[trade["maker"]]["trade_count"] += 1
    for log in truth.logs:
        rows[log["address"]]["log_count"] += 1
    for _, item in items(truth):
        for owner in item.owners():
            rows[owner]["item_count"] += 1
    return dict(rows)


def blocks(truth):
    """What each block has, and what all blocks before it have, by number."""
    records_of = {
        kind: Counter(record["blockNumber"] for record in getattr(truth, f"{kind}s"))
        for kind in ("transaction", "token_transfer", "dex_trade", "internal_transfer", "log")
    }
    gas_prices = Counter()
    for t in truth.transactions:
        gas_prices[t["blockNumber"]] += int(t["gasPrice"])
    rows = {}
    before = dict.fromkeys(records_of, 0)
    for number in range(truth.head + 1):
        rows[number] = {f"{kind}s_before": count for kind, count in before.items()}
        for kind, counts in records_of.items():
            rows[number][f"{kind}_count"] = counts[number]
            before[kind] += counts[number]
        rows[number]["gas_price_sum"] = gas_prices[number]
    return rows


def _add_parties(rows, transfer, kind):
    sender, recipient = transfer["fromAddress"], transfer["toAddress"]
    rows[sender][f"{kind}_sent_count"] += 1
    rows[recipient][f"{kind}_received_count"] += 1
    for address in {sender, recipient}:
        rows[address][f"{kind}_count"] += 1


def _add_transactions(rows, truth):
    blocks = {block["number"]: block for block in truth.blocks}
    for block in truth.blocks:
        rows[block["miner"]]["produced_count"] += block["txCount"] > 0
    for t in truth.transactions:
        sender, recipient = t["fromAddress"], t["toAddress"] or t["contractAddress"]
        for address in {sender, t["toAddress"], t["contractAddress"]} - {None}:
            rows[address]["transaction_count"] += 1
        rows[sender]["sent_count"] += 1
        rows[sender]["net_wei"] -= int(t["fee"])
        if t["toAddress"]:
            rows[t["toAddress"]]["received_count"] += 1
        block = blocks[t["blockNumber"]]
        tip = int(t["gasPrice"]) - int(block["baseFeePerGas"] or 0)
        rows[block["miner"]]["net_wei"] += max(tip, 0) * int(t["gasUsed"])
        if t["status"] and int(t["value"]):
            rows[sender]["coin_sent_count"] += 1
            rows[sender]["net_wei"] -= int(t["value"])
            rows[recipient]["net_wei"] += int(t["value"])
            rows[recipient]["coin_received_count"] += recipient != sender


def token_holders(truth):
    """Balances that are not 0, also below it, by holder and token."""
    return {
        (holder, token): {"balance": balance}
        for token, transfers in records_by(truth.token_transfers, "tokenAddress").items()
        for holder, balance in balances_of(transfers).items()
        if balance and holder != ZERO and token in truth.holders.keys() - truth.bare
    }


def tokens(truth):
    """The counters of tokens, by address."""
    rows = {}
    for token, transfers in records_by(truth.token_transfers, "tokenAddress").items():
        balances = balances_of(transfers) if token in truth.holders.keys() - truth.bare else {}
        held = [balance for holder, balance in balances.items() if holder != ZERO]
        rows[token] = {
            "holder_count": sum(balance > 0 for balance in held),
            "transfer_count": len(transfers),
            "item_transfer_count": sum(t["tokenId"] is not None for t in transfers),
            "held_supply": sum(b for b in held if b > 0),
            "item_count": len({t["tokenId"] for t in transfers} - {None}),
        }
    return rows


def items(truth):
    """Each item with the ordinal of its first transfer."""
    ordinals = {id(t): ordinal for ordinal, t in enumerate(reversed(truth.token_transfers))}
    by_token = items_of(truth.token_transfers)
    return [(ordinals[id(i.transfers[0])], i) for of_token in by_token.values() for i in of_token]


def token_items(truth):
    """Items by token and the ordinal of their first transfer."""
    return {
        (item.token, first): {
            "transfer_count": len(item.transfers),
            "owner": item.owner,
            "owner_count": None if item.token_type == "BEP721" else len(item.owners()),
        }
        for first, item in items(truth)
    }


def item_balances(truth):
    """Balances of BEP1155 items, by holder and the ordinal of the item's first transfer."""
    return {
        (holder, first): {"balance": balance}
        for first, item in items(truth)
        for holder, balance in item.balances.items()
        if balance and holder != ZERO
    }


def event_topics(truth):
    """The number of logs with each first topic."""
    counts = Counter(log["topics"][0] for log in truth.logs if log["topics"])
    return {topic: {"log_count": count} for topic, count in counts.items()}


def dexes(truth):
    """The number of trades on each exchange."""
    counts = Counter(trade["dex"] for trade in truth.dex_trades)
    return {name: {"trade_count": count} for name, count in counts.items()}


def _acts(truth):
    """Each address that was more than a party of a token's transfer in a block, and its number."""
    parties = "fromAddress", "toAddress", "contractAddress"
    acts = [(b["miner"], b["number"]) for b in truth.blocks if b["txCount"]]
    for record in (*truth.transactions, *truth.internal_transfers):
        acts += [(record[key], record["blockNumber"]) for key in parties if record.get(key)]
    return acts


def daily_stats(truth):
    """What each day counts; timestamps of the scenario never go back."""
    rows = defaultdict(Counter)
    day_of = {block["number"]: block["timestamp"][:10] for block in truth.blocks}
    for day in set(day_of.values()):
        numbers = [number for number, its_day in day_of.items() if its_day == day]
        rows[day].update(first_block=min(numbers), last_block=max(numbers))
    acts = _acts(truth)
    for _, day in {(address, day_of[number]) for address, number in acts}:
        rows[day]["active_address_count"] += 1
    first_acts = dict(sorted(acts, key=lambda act: -act[1]))
    for number in first_acts.values():
        rows[day_of[number]]["new_address_count"] += 1
    for block in truth.blocks:
        row = rows[block["timestamp"][:10]]
        row["transaction_count"] += block["txCount"]
        row["gas_used"] += int(block["gasUsed"])
        row["burnt_wei"] += int(block["burntFees"] or 0)
    for t in truth.transactions:
        row = rows[t["timestamp"][:10]]
        row["fees_wei"] += int(t["fee"])
        row["failed_transaction_count"] += not t["status"]
        row["created_contract_count"] += t["status"] and t["contractAddress"] is not None
    for transfer in truth.internal_transfers:
        row = rows[transfer["timestamp"][:10]]
        row["created_contract_count"] += transfer["type"] in ("create", "create2")
    for transfer in truth.token_transfers:
        rows[transfer["timestamp"][:10]]["token_transfer_count"] += 1
    for trade in truth.dex_trades:
        rows[trade["timestamp"][:10]]["dex_trade_count"] += 1
    return {day: dict(row) for day, row in rows.items()}


def records_by(records, field):
    groups = defaultdict(list)
    for record in records:
        groups[record[field]].append(record)
    return groups
