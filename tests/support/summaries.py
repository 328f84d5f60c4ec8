"""What the sentence about a transaction must say, worked out from the node's truth alone."""

from collections import Counter, defaultdict
from decimal import Decimal, localcontext
from typing import Any

from tests.support.anvil import Node
from tests.support.truth import SWAP_V2, SWAP_V3, ZERO, Record, Truth, topic_of

Asset = tuple[str | None, str | None]  # token and id; of the coin None
PANCAKE = "Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"
COIN: Asset = (None, None)
APPROVAL = topic_of("Approval(address,address,uint256)")
DEPOSIT, WITHDRAWAL = topic_of("Deposit(address,uint256)"), topic_of("Withdrawal(address,uint256)")
SWAPS = {SWAP_V2, SWAP_V3, topic_of(PANCAKE)}
CREATED = {
    topic_of("PairCreated(address,address,address,uint256)"),
    topic_of("PoolCreated(address,address,uint24,int24,address)"),
}
LIQUIDITY = {
    topic_of("Mint(address,uint256,uint256)"): "add-liquidity",
    topic_of("Mint(address,address,int24,int24,uint128,uint256,uint256)"): "add-liquidity",
    topic_of("Burn(address,uint256,uint256,address)"): "remove-liquidity",
    topic_of("Burn(address,int24,int24,uint128,uint256,uint256)"): "remove-liquidity",
}


class Sentences:
    """Checks sentences against one chain."""

    def __init__(self, node: Node, truth: Truth, *, is_recording: bool) -> None:
        self.node = node
        self.is_recording = is_recording
        self.transactions = {t["hash"]: t for t in truth.transactions}
        self.tokens = {token["address"]: token for token in truth.tokens}
        self.transfers = _by_transaction(truth.token_transfers)
        self.trades = _by_transaction(truth.dex_trades)
        self.internal = _by_transaction(truth.internal_transfers)
        self.logs = _by_transaction(truth.logs)
        self.pools = {trade["pairAddress"] for trade in truth.dex_trades}
        self.checked: Counter[str] = Counter()
        self._codes: dict[str, bool] = {}

    def check(self, detail: Record) -> None:
        summary, at = detail["summary"], detail["hash"]
        assert summary["text"] == "".join(part["text"] for part in summary["parts"]), at
        for part in summary["parts"]:
            if part.get("value") is not None:
                self._check_amount(part, summary["text"])
        action = self._action(detail)
        unread = self.is_recording and self._asks_contracts(at)
        assert unread or summary["action"] == action, (at, action, summary["text"])
        claims = [
            ((part.get("address"), part.get("tokenId")), int(part["value"]))
            for part in summary["parts"]
            if "value" in part
        ]
        expected = None if unread else self._claims(action, detail)
        if unread:
            emitted = {word for log in self.logs[at] for word in _words(log)}
            coin = int(detail["value"])
            moved = {abs(value) for value in self._net(at).values()}
            returned = abs(self._net(at)[COIN] + coin)
            values = {value for _, value in claims}
            assert values <= emitted | moved | {coin, returned}, (at, summary["text"])
        elif expected is not None:
            assert claims == expected, (at, expected, summary["text"])
        self.checked[action] += 1

    def _check_amount(self, part: Record, text: str) -> None:
        """The number is the exact one, cut, in the units of the contract that is linked."""
        token = self.tokens.get(part.get("address", ""))
        number, _, unit = part["text"].partition(" ")
        if part["type"] == "item":
            assert (token is not None and part["text"].endswith(f"#{part['tokenId']}")) or (
                "…" in part["text"]
            ), text
            return
        decimals = 18 if token is None else token["decimals"]
        if "e" not in number:
            with localcontext(prec=200):
                exact = Decimal(part["value"]).scaleb(-decimals)
                shown = Decimal(number.replace(",", "").rstrip("…"))
                digits = -int(shown.as_tuple().exponent)
                assert shown <= exact < shown + Decimal(1).scaleb(-digits), text
                assert number.endswith("…") == (shown != exact), text
        if token is not None and token["symbol"].isalpha() and len(token["symbol"]) <= 20:
            is_marked = unit.endswith(", not the largest token of that symbol)")
            assert is_marked == ("largerNamesake" in part), text
            assert is_marked or unit == token["symbol"], text

    def _action(self, detail: Record) -> str:
        stored = self.transactions[detail["hash"]]
        to, logs = stored["toAddress"], self.logs[detail["hash"]]
        if not stored["status"]:
            return "failed"
        if to is None:
            return "deploy"
        data = self.node.call("eth_getTransactionByHash", detail["hash"])["input"]
        if not self._has_code(to) and data != "0x":
            return "message"
        if data == "0x" and not logs:
            return (
                "cancel" if to == stored["fromAddress"] and stored["value"] == "0" else "transfer"
            )
        transfers, trades = self.transfers[detail["hash"]], self.trades[detail["hash"]]
        if trades:
            return self._action_of_trades(detail["hash"])
        changes = {
            LIQUIDITY[log["topics"][0]]
            for log in logs
            if log["address"] in self.pools and log["topics"] and log["topics"][0] in LIQUIDITY
        }
        if changes:
            return changes.pop()
        if transfers:
            return self._action_of_transfers(stored, transfers, logs)
        if len(logs) == 1 and logs[0]["topics"][:1] == [APPROVAL] and logs[0]["address"] == to:
            return "revoke" if int(logs[0]["data"], 16) == 0 else "approve"
        if any(log["topics"] and log["topics"][0] in CREATED for log in logs):
            return "create-pool"
        return "call"

    def _asks_contracts(self, at: str) -> bool:
        """Whether its events mean what their contracts say: a recording answers none of it."""
        asking = {*SWAPS, *LIQUIDITY, *CREATED, DEPOSIT, WITHDRAWAL}
        return any(log["topics"] and log["topics"][0] in asking for log in self.logs[at])

    def _action_of_trades(self, at: str) -> str:
        transfers, trades = self.transfers[at], self.trades[at]
        for trade in trades:
            into = [t for t in transfers if t["toAddress"] == trade["pairAddress"]]
            out_of = [t for t in transfers if t["fromAddress"] == trade["pairAddress"]]
            if trade["tokenIn"] not in {t["tokenAddress"] for t in into}:
                return "call"
            if trade["tokenOut"] not in {t["tokenAddress"] for t in out_of}:
                return "call"
        return "trade" if self._swap(at) is None else "swap"

    def _swap(self, at: str) -> list[tuple[Asset, int]] | None:
        """Given and got, by the sender's own sums or else by those of the trades."""
        traded: Counter[Asset] = Counter()
        for trade in self.trades[at]:
            traded[(trade["tokenIn"], None)] -= int(trade["amountIn"])
            traded[(trade["tokenOut"], None)] += int(trade["amountOut"])
        return _pair(self._net(at)) or _pair(traded)

    def _net(self, at: str) -> Counter[Asset]:
        sender = self.transactions[at]["fromAddress"]
        net: Counter[Asset] = Counter()
        for transfer in self.transfers[at]:
            asset = (transfer["tokenAddress"], transfer["tokenId"])
            for key, sign in (("toAddress", 1), ("fromAddress", -1)):
                net[asset] += sign * int(transfer["value"]) * (transfer[key] == sender)
        if self.transactions[at]["toAddress"] != sender:
            net[COIN] -= int(self.transactions[at]["value"])
        for moved in self.internal[at]:
            for key, sign in (("toAddress", 1), ("fromAddress", -1)):
                net[COIN] += sign * int(moved["value"]) * (moved[key] == sender)
        return net

    def _action_of_transfers(
        self, stored: Record, transfers: list[Record], logs: list[Record]
    ) -> str:
        owners, takers, tokens = (
            {t[key] for t in transfers} for key in ("fromAddress", "toAddress", "tokenAddress")
        )
        to, sender = stored["toAddress"], stored["fromAddress"]
        if len(logs) == 1 and tokens == {to}:
            value = int(transfers[0]["value"])
            is_whole = value == int(stored["value"]) > 0
            if logs[0]["topics"][0] == DEPOSIT and takers == {sender} and is_whole:
                return "wrap"
            if logs[0]["topics"][0] == WITHDRAWAL and owners == {sender} and value:
                return "unwrap"
        if len(tokens) > 1 or len(owners) > 1 or (owners == {ZERO} and ZERO in takers):
            return "call"
        if owners == {ZERO}:
            return "mint" if tokens == {to} or takers == {sender} else "call"
        if tokens != {to} and (owners != {sender} or len(takers) == 1):
            return "call"
        if ZERO in takers:
            return "burn" if takers == {ZERO} else "call"
        return "transfer"

    def _claims(self, action: str, detail: Record) -> list[tuple[Asset, int]] | None:
        """The amounts that the sentence has, in its order; None where they are not compared."""
        claims = self._own_claims(action, detail)
        if claims is None or action in ("swap", "trade", "call"):
            return claims
        stored = self.transactions[detail["hash"]]
        rest = self._net(detail["hash"])[COIN]
        if stored["toAddress"] != stored["fromAddress"]:
            rest += int(stored["value"])
        if action == "unwrap":
            rest -= sum(amount for asset, amount in claims if asset != COIN)
        return [*claims, (COIN, abs(rest))] if rest else claims

    def _own_claims(self, action: str, detail: Record) -> list[tuple[Asset, int]] | None:
        at, value = detail["hash"], int(self.transactions[detail["hash"]]["value"])
        coin = [(COIN, value)] if value else []
        transfers = self.transfers[at]
        sums: dict[Asset, int] = defaultdict(int)
        for transfer in transfers:
            sums[(transfer["tokenAddress"], transfer["tokenId"])] += int(transfer["value"])
        if action == "swap":
            swap = self._swap(at) or []
            if _pair(self._net(at)) is None:
                return None
            return swap + (coin if coin and swap[0][0] != COIN else [])
        if action == "trade":
            net = self._net(at)
            net[COIN] += value
            claims = _signed(net)
            return None if len(claims) > 3 else coin + claims
        if action in ("mint", "burn", "transfer", "unwrap") and transfers:
            return None if len(sums) > 3 else [*sums.items(), *coin]
        if action in ("transfer", "message"):
            return [(COIN, value)]
        if action == "wrap":
            return [(COIN, value), *sums.items()]
        if action == "approve":
            [log] = self.logs[at]
            amount = int(log["data"], 16)
            return [] if amount >= 2**255 else [((log["address"], None), amount)]
        if action == "call":
            claims = _signed(self._net(at))
            return None if len(claims) > 3 else claims
        if action in ("add-liquidity", "remove-liquidity", "failed"):
            return None
        return coin

    def _has_code(self, address: str) -> bool:
        if address not in self._codes:
            self._codes[address] = self.node.call("eth_getCode", address, "latest") != "0x"
        return self._codes[address]


def _signed(net: Counter[Asset]) -> list[tuple[Asset, int]]:
    """What was given, then what was got."""
    given = [(asset, -value) for asset, value in net.items() if value < 0]
    return given + [(asset, value) for asset, value in net.items() if value > 0]


def _pair(net: Counter[Asset]) -> list[tuple[Asset, int]] | None:
    signs = sorted(value > 0 for value in net.values() if value)
    return _signed(net) if signs == [False, True] else None


def _by_transaction(records: list[Any]) -> dict[str, list[Record]]:
    """In the order of the chain; the truth's lists are newest first."""
    grouped: dict[str, list[Record]] = defaultdict(list)
    for record in reversed(records):
        grouped[record["transactionHash"]].append(record)
    return grouped


def _words(log: Record) -> list[int]:
    """Those of its data, as numbers, and what signed ones are without their sign."""
    digits = log["data"][2:]
    words = [int(digits[at : at + 64], 16) for at in range(0, len(digits), 64)]
    return words + [2**256 - word for word in words]
