"""What the API must say of a chain, worked out from the node alone, slowly and plainly.

Written from what the service promises, without the indexer's code: two ways to one
answer are the point. It asks other methods, too: receipts one by one, traces transaction by
transaction, logs through eth_getLogs.
"""

from collections import Counter
from dataclasses import dataclass, field

from tests.support.truth.addresses import addresses
from tests.support.truth.blocks import block_record, log_record, stats, transactions
from tests.support.truth.internal_transfers import internal_transfers
from tests.support.truth.reading import Chain
from tests.support.truth.tokens import Tokens
from tests.support.truth.trades import Trades

# Fields of answers that no truth here has.
ELSEWHERE = {
    # Of a token: test_token_pages.py, test_sums_of_events.py, token_lists and explanations.
    *("verified", "logoUrl", "listedAs", "inconsistentSince", "supplyBlock", "largerNamesake"),
    *("heldSupply", "namesake", "holdersAsked"),
    "knownName",  # of an address: test_known_addresses.py
    *("suspicious", "event"),  # test_protocols.py, test_decoder.py
    # Of a block or a transaction alone: test_lists.py, test_pages.py, test_rows_and_tabs.py and
    # test_transaction_contents.py, and tests of the extensions that add them.
    *("confirmations", "finality", "blobCount"),
    *("blobGasPrice", "tokenTransferCount", "tradeCount", "internalTransferCount", "producerFees"),
    *("earned", "withdrawn", "error", "authorizations", "authorizationCount", "input", "method"),
    *("logs", "logCount", "unavailable", "summary", "accessList"),
}


def comparable(record):
    return {name: value for name, value in record.items() if name not in ELSEWHERE}


@dataclass(frozen=True)
class Truth:
    """Records as the API shows them, whole, newest first."""

    head: int
    stats: dict  # what the chain says of them; the rest is the operator's
    blocks: list
    transactions: list
    token_transfers: list
    dex_trades: list
    tokens: list
    # token -> what its own page shows beside its record
    token_details: dict
    addresses: dict
    internal_transfers: list
    # token -> holder -> balance above zero, by the transfers, or by answers of those in `read`
    holders: dict[str, dict[str, int]]
    bare: set[str]  # tokens whose contracts have no function, so that nobody holds any
    read: dict[str, dict[str, int]]
    # transaction hash -> the contract it created directly
    created: dict[str, str]
    logs: list
    # of which it has none: see scan/extensions/user_operations/tests
    user_operations: list = field(default_factory=list)

    def transactions_of(self, address):
        return [
            t
            for t in self.transactions
            if address in (t["fromAddress"], t["toAddress"], self.created.get(t["hash"]))
        ]

    def address_detail(self, address):
        """As /addresses/:address shows it."""
        recent = self.transactions_of(address)[:25]
        detail = {**self.addresses[address], "recentTxs": recent, "balanceBlock": self.head}
        return {**detail, "creation": self.creation_of(address)}

    def creation_of(self, address):
        """The newest, by a transaction or inside of one."""
        transactions = {t["hash"]: t for t in self.transactions}
        ways = [(t, None) for h, t in transactions.items() if self.created.get(h) == address]
        ways += [
            (transactions[i["transactionHash"]], i["fromAddress"])
            for i in self.internal_transfers
            if i["type"] in ("create", "create2") and i["toAddress"] == address
        ]
        if not ways:
            return None
        sent, factory = max(
            ways, key=lambda way: (way[0]["blockNumber"], way[0]["transactionIndex"])
        )
        record = {
            "creator": sent["fromAddress"],
            "factory": factory,
            "transactionHash": sent["hash"],
            "blockNumber": sent["blockNumber"],
            "timestamp": sent["timestamp"],
        }
        return {**record, "unproven": [*record] if factory else []}

    def token_detail(self, token):
        """As /tokens/:address shows it."""
        address, balances = token["address"], self.holders.get(token["address"], {})
        detail = {**token, "holderCount": len(balances), **self.token_details[address]}
        if address in self.read:
            ranked = {"rankedHolders": len(balances), "rankedSupply": str(sum(balances.values()))}
            detail |= {**ranked, "unproven": [*detail["unproven"], *ranked]}
        return detail

    def tokens_held_by(self, address):
        """As /addresses/:address/tokens lists them."""
        return [
            {
                "tokenAddress": token["address"],
                **{name: token[name] for name in ("name", "symbol", "decimals", "type")},
                "balance": str(self.holders[token["address"]][address]),
                **self.read_at(token["address"], address, ["name", "symbol", "decimals", "type"]),
            }
            for token in sorted(self.tokens, key=lambda t: str(t["address"]))
            if address in self.holders.get(token["address"], ())
        ]

    def read_at(self, token, holder, unproven=()):
        if holder in self.read.get(token, {}):
            return {"balanceBlock": self.head, "unproven": [*unproven, "balance"]}
        return {"unproven": unproven} if unproven else {}


def read_truth(node, traces=True):
    """Reads the whole chain up to the head; `traces` as the service's SCAN_TRACES."""
    chain = Chain(node, traces)
    tokens = Tokens(chain)
    transfers = tokens.transfers()
    by_events, read = tokens.holders(transfers), tokens.read(transfers)
    bare = {token for token in tokens.types if tokens.is_bare(token)}
    by_events |= {token: {} for token in bare}
    transactions_read = transactions(chain)
    seen = addresses(chain, transfers, transactions_read)
    # What has lost its code, or never had any after a block, is no token.
    standing = [t for t in tokens.types if seen[t]["isContract"] or "delegate" in seen[t]]
    listed = [token for token in standing if token not in bare]
    holders = {
        token: {h: n for h, n in {**by_events[token], **read.get(token, {})}.items() if n}
        for token in standing
    }
    moved = Counter(transfer["tokenAddress"] for transfer in transfers)
    return Truth(
        head=chain.head,
        stats=stats(chain, len(listed)),
        blocks=[block_record(b, chain.receipts) for b in chain.blocks[::-1]],
        transactions=transactions_read[::-1],
        token_transfers=transfers[::-1],
        dex_trades=Trades(chain, tokens).records(transfers)[::-1],
        tokens=sorted(
            (
                tokens.record(token, by_events, seen[token], read) | {"transferCount": moved[token]}
                for token in listed
            ),
            key=lambda t: (t["holderCount"], t["address"]),
            reverse=True,
        ),
        token_details=tokens.details(transfers, read),
        addresses=seen,
        internal_transfers=internal_transfers(chain)[::-1],
        holders=holders,
        bare=bare,
        read=read,
        created=chain.created,
        logs=[log_record(chain, log) for log in chain.logs[::-1]],
    )
