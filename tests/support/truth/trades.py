"""Trades on exchanges by their pools' events, and which exchange a pool is of."""

from collections import Counter

from tests.support.truth.reading import ZERO, topic_of
from tests.support.truth.tokens import first_word

# The four factories of Ethereum that the scenario puts where they are known.
KNOWN_FACTORIES = {
    ("v2", "0x5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"): "uniswap-v2",
    ("v3", "0x1f98431c8ad98523631ae4a59f267346ea31f984"): "uniswap-v3",
    ("v2", "0x1097053fd2ea711dad45caccc45eff7548fcb362"): "pancakeswap-v2",
    ("v3", "0x0bfbcf9fa4f9c56b0f40a671ad40e0805a091865"): "pancakeswap-v3",
}

SWAP_V2 = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
SWAP_V3 = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)")
SWAP_PANCAKE = topic_of("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)")


class Trades:
    """A pool is one exchange's, whatever else it emits: named at its first trade."""

    def __init__(self, chain, tokens):
        self.chain, self.tokens = chain, tokens
        self.dexes = {}

    def records(self, transfers):
        """Each with whether the pool's transfers bear what its trades in the transaction say."""
        moved = Counter()
        for transfer in transfers:
            at, token, value = (transfer[k] for k in ("transactionHash", "tokenAddress", "value"))
            if transfer["fromAddress"] != transfer["toAddress"]:
                moved[at, token, "in", transfer["toAddress"]] += int(value)
                moved[at, token, "out", transfer["fromAddress"]] += int(value)
        trades = [record for log in self.chain.logs if (record := self.trade_record(log))]
        totals = Counter()
        for trade in trades:
            for key, amount in sides(trade):
                totals[key] += amount
        for trade in trades:
            keys = [key for key, _ in sides(trade)]
            trade["backedByTransfers"] = all(k in moved and moved[k] >= totals[k] for k in keys)
            if not trade["backedByTransfers"] and all(
                k in moved and moved[k] * 2 >= totals[k] for k in keys
            ):
                trade["backedByTransfers"] = None
        return trades

    def trade_record(self, log):
        if (swap := read_swap(log)) is None:
            return None
        protocol, net0, net1 = swap
        if net0 == net1 == 0:  # nothing was traded
            return None
        token0, token1 = (self.chain.address_answer(log, f"token{n}()") for n in (0, 1))
        if token0 is None or token1 is None:
            return None
        zero_in, amount_in, amount_out = direction(net0, net1)
        token_in, token_out = (token0, token1) if zero_in else (token1, token0)
        if log.address not in self.dexes:
            self.dexes[log.address] = self.dex_of(log, protocol, token0, token1)
        return {
            "transactionHash": log.transaction_hash,
            "blockNumber": log.block,
            "logIndex": log.number,
            "dex": self.dexes[log.address],
            "pairAddress": log.address,
            "poolId": None,
            "maker": self.chain.receipts[log.transaction_hash]["from"].lower(),
            "tokenIn": token_in,
            "tokenOut": token_out,
            "amountIn": str(amount_in),
            "amountOut": str(amount_out),
            "timestamp": self.chain.timestamps[log.block],
            "tokenInSymbol": self.tokens.symbol(token_in),
            "tokenInDecimals": self.tokens.decimals(token_in),
            "tokenOutSymbol": self.tokens.symbol(token_out),
            "tokenOutDecimals": self.tokens.decimals(token_out),
            "unproven": """
                dex tokenIn tokenOut tokenInSymbol tokenInDecimals tokenOutSymbol tokenOutDecimals
            """.split(),
        }

    def dex_of(self, log, protocol, token0, token1):
        factory = self.chain.address_answer(log, "factory()") or ZERO
        if not self.confirmed(log, protocol, factory, token0, token1):
            return f"{protocol}-unconfirmed"
        return KNOWN_FACTORIES.get((protocol, factory), f"{protocol}-{factory}")

    def confirmed(self, log, protocol, factory, token0, token1):
        if protocol == "v2":
            signature, args = "getPair(address,address)", (token0, token1)
        else:
            fee = first_word(self.chain.call(log.address, "fee()", (), log.block))
            signature, args = "getPool(address,address,uint24)", (token0, token1, fee % 2**24)
        return self.chain.address_answer(log, signature, *args, to=factory) == log.address


def read_swap(log):
    """The protocol, and what went into the pool of token0 and token1; what came out is below 0."""
    words = log.words()
    if len(log.topics) != 3:
        return None
    if log.event == SWAP_V2 and len(log.data) == 128:
        in0, in1, out0, out1 = words
        return "v2", in0 - out0, in1 - out1
    if {SWAP_V3: 160, SWAP_PANCAKE: 224}.get(log.event) == len(log.data):
        return "v3", signed(words[0]), signed(words[1])
    return None


def direction(net0, net1):
    """(token0 goes in, amount in, amount out), amounts net and never below zero.

    Where both or neither went in, token0 is the one that did, if any of it did.
    """
    if net0 > 0 or (net0 == 0 and net1 <= 0):
        return True, max(net0, 0), max(-net1, 0)
    return False, max(net1, 0), max(-net0, 0)


def signed(word):
    return word - 2**256 if word >= 2**255 else word


def sides(trade):
    """What a trade says went into its pool, and out of it."""
    at, pool = trade["transactionHash"], trade["pairAddress"]
    yield (at, trade["tokenIn"], "in", pool), int(trade["amountIn"])
    yield (at, trade["tokenOut"], "out", pool), int(trade["amountOut"])
