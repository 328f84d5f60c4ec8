"""Responses in Blockscout's form, and values for the arguments of its paths."""

import random
import re
from collections import Counter

import pytest

MOST_PAGES = 400
UNSEEN = "0x" + "9d" * 20


class Asking:
    def __init__(self, client):
        self.client = client

    def __call__(self, path, **parameters):
        response = self.client.get(f"/api/v2{path}", query_string=parameters)
        assert response.status_code == 200, (path, response.text)
        return response.json

    def pages(self, path, **parameters):
        """As clients do: what next_page_params has is sent back."""
        following = {}
        for _ in range(MOST_PAGES):
            body = self(path, **parameters, **following)
            yield body["items"]
            following = body["next_page_params"]
            if following is None:
                return
        raise AssertionError(f"{path} has no end")

    def rows(self, path, **parameters):
        return [item for page in self.pages(path, **parameters) for item in page]


@pytest.fixture(scope="session")
def ask(client):
    return Asking(client)


def most(truth, count):
    return max(truth.addresses, key=lambda address: truth.addresses[address][count])


@pytest.fixture(scope="session")
def examples(truth):
    """Values of each argument of a path."""
    draw = random.Random(38)
    moves = Counter(transfer["tokenAddress"] for transfer in truth.token_transfers)
    tokens = sorted(truth.tokens, key=lambda token: moves[token["address"]])
    of_types = {token["type"]: token["address"] for token in tokens}  # the busiest of each
    items = {t["tokenId"] for t in truth.token_transfers if t["tokenId"] is not None}
    moved = Counter(t["transactionHash"] for t in truth.internal_transfers)
    [(traced, _)] = moved.most_common(1)
    [inner] = [t for t in truth.transactions if t["hash"] == traced]
    holders = sorted(truth.addresses, key=lambda key: -len(truth.tokens_held_by(key)))
    people = [most(truth, "txCount"), holders[0], inner["fromAddress"], inner["toAddress"]]
    people += [*draw.sample(sorted(truth.addresses), 4), truth.blocks[0]["miner"], UNSEEN]
    fullest = max(truth.blocks, key=lambda block: block["txCount"])
    logged = {(t["transactionHash"], t["logIndex"]) for t in truth.token_transfers}
    [(of_tokens, _)] = Counter(sent for sent, _ in logged).most_common(1)
    sent = [traced, of_tokens, *(t["hash"] for t in draw.sample(truth.transactions, 6))]
    sent += [t["hash"] for t in truth.transactions if not t["status"]][:2]
    return {
        "address_hash": [*filter(None, people), *of_types.values()],
        "transaction_hash": sent,
        "block": [str(fullest["number"]), fullest["hash"], "0", str(inner["blockNumber"])],
        "token_id": sorted(items)[:3],
        "operation_hash": [],
        "blob_hash": [
            hash_ for t in truth.transactions for hash_ in t["blobVersionedHashes"] or ()
        ][:2],
        "name": ["newTxns", "averageTxnFee", "nothing"],
    }


REQUIRED = {"/api/v2/stats/hot-smart-contracts": {"scale": "30d"}}  # parameters


def filled(rule, examples):
    paths = [rule]
    for name in re.findall(r"<(\w+)>", rule):
        paths = [p.replace(f"<{name}>", value) for p in paths for value in examples[name]]
    return paths
