"""Holders at a block, as the API lists them, and tokens that random transfers move."""

import itertools
import random

from tests.support.anvil import ZERO


def get(client, path, status=200):
    response = client.get(f"/api/v1{path}")
    assert response.status_code == status, response.text
    return response.json


def pages(client, path, limit=3):
    """Return the records of all pages by cursors, and the total that each page has."""
    records, cursor, totals = [], "", set()
    while cursor is not None:
        page = get(client, f"{path}&limit={limit}{cursor}")
        assert len(page["holders"]) <= limit
        records, totals = [*records, *page["holders"]], {*totals, page["total"]}
        cursor = page["next"] and f"&cursor={page['next']}"
    [total] = totals
    return records, total


def by_holder(records):
    """Return {holder: {id: amount}}, having checked their order and sums."""
    order = [(int(record["balance"]), record["address"]) for record in records]
    assert order == sorted(order, reverse=True)
    held = {}
    for record in records:
        items = held.setdefault(record["address"], {})
        ids = {int(item["tokenId"]): int(item["balance"]) for item in record["items"]}
        assert not ids.keys() & items.keys()
        items |= ids
    for record in records:
        assert int(record["balance"]) == sum(held[record["address"]].values())
    return held


def path_of(scenario, key, number):
    return f"/tokens/{scenario.stage.contracts[key].address}/holders?block={number}"


def file_of(client, path, form):
    answer = client.get(f"/api/v1{path}&format={form}", buffered=True)
    assert answer.status_code == 200, answer.text
    return answer


IDS = range(1, 13)


class Tokens:
    """A chain of one token of each standard, which random transfers move."""

    def __init__(self, anvil, seed):
        self.anvil, self.random = anvil, random.Random(seed)
        self.owner = anvil.accounts[0]
        self.coin = anvil.deploy(self.owner, "Coin", "Coin", "COIN", 18)
        self.collectible = anvil.deploy(self.owner, "Collectible", "One", "ONE")
        self.items = anvil.deploy(self.owner, "Items", "Items", "ITEM")
        self.born = anvil.head()

    def act(self, blocks):
        """Mine blocks of mints, transfers, also of nothing and to oneself, and burns."""
        for _ in range(blocks):
            for _ in range(self.random.randrange(6)):
                sender, to = self.random.choices(self.anvil.accounts[:6], k=2)
                id_, value = self.random.choice(IDS), self.random.choice((0, 0, 1, 5, 10**30))
                contract, function, args = self.random.choice([
                    (self.coin, "mint", (to, value)),
                    (self.coin, "transfer", (to, value)),
                    (self.coin, "burn", (value,)),
                    (self.collectible, "mint", (to, id_)),
                    (self.collectible, "transferFrom", (sender, to, id_)),
                    (self.collectible, "burn", (id_,)),
                    (self.items, "mint", (to, id_, value)),
                    (self.items, "burn", (sender, id_, value)),
                    (self.items, "safeBatchTransferFrom", (sender, to, [id_, 1], [1, 1], b"")),
                ])  # fmt: skip
                self.anvil.transact(sender, contract, function, *args)
            self.anvil.mine()

    def check(self, client, numbers):
        """Compare all holders after blocks with the node's; return how many there were at most."""
        counts = [0]
        for number in numbers:
            coins = self._read(
                self.coin, "balanceOf", [(h,) for h in self._named(self.coin)], number
            )
            records, total = pages(client, f"/tokens/{self.coin.address}/holders?block={number}")
            assert {(r["address"],): int(r["balance"]) for r in records} == coins, number
            owners = self._read(self.collectible, "ownerOf", [(id_,) for id_ in IDS], number)
            owned = {(f"0x{owner:040x}", id_): 1 for (id_,), owner in owners.items()}
            pairs = itertools.product(self._named(self.items), IDS)
            amounts = self._read(self.items, "balanceOf", pairs, number)
            for contract, expected in ((self.collectible, owned), (self.items, amounts)):
                path = f"/tokens/{contract.address}/holders?block={number}"
                records, of_ids = pages(client, path)
                held = by_holder(records)
                assert {(h, id_): held[h][id_] for h in held for id_ in held[h]} == expected, number
                assert len(held) == of_ids == len({holder for holder, _ in expected})
            assert total == len(coins)
            counts.append(total)
        return max(counts)

    def _named(self, contract):
        """Every address that the topics of a contract's logs have, in the present chain."""
        filters = {"address": contract.address, "fromBlock": "0x0", "toBlock": "latest"}
        logs = self.anvil.call("eth_getLogs", filters)
        return sorted({f"0x{t[-40:]}" for log in logs for t in log["topics"][1:]} - {ZERO})

    def _read(self, contract, function, arguments, block):
        """What a function returned after a block, by its arguments: without nothing, and without
        those with which it reverted."""
        arguments = [*arguments]
        calls = [{"to": contract.address, "data": contract.data(function, *a)} for a in arguments]
        results = self.anvil.batch([("eth_call", (call, hex(block))) for call in calls])
        values = zip(arguments, results, strict=True)
        return {a: int(r, 16) for a, r in values if isinstance(r, str) and r.strip("0x")}
