"""A pool now: what it holds by the index, its price and fee by the node."""

from decimal import Context, Decimal
from typing import Any

from scan.errors import NotFound, Unavailable, UpstreamFailed
from scan.ethereum.client import Call
from scan.ethereum.served_chain import BlockId
from scan.ethereum.token_metadata import FEE
from scan.extensions.markets.queries import UNKNOWN
from scan.hex import BadHex, data, to_hex
from scan.queries import balances
from scan.queries.reader import Reader

GET_RESERVES, SLOT0 = "0x0902f1ac", "0x3850c7bd"
GAS = 200_000  # of each call
TIMEOUT_S = 3.0
MAX_RESPONSE_BYTES = 16 * 1024
SQRT_PRICE_BITS = 160
FEE_BITS = 24
# Of exchanges whose pairs have one fee, in millionths; their contracts have no function for it.
FEES = {"uniswap-v2": 3000, "sushiswap-v2": 3000, "pancakeswap-v2": 2500}
PRICE_DIGITS = Context(prec=40)


def get(reader: Reader, address: bytes) -> dict[str, Any]:
    """Return a pool's state at the newest block; what the node does not say is null, and so is a
    reserve that transfers do not tell. Raises NotFound."""
    dex, token0, token1, *reserves, decimals0, decimals1, number, hash_ = (
        reader.row("queries/pool_state_get", address=address) or (None,) * 9
    )
    if dex is None:
        raise NotFound(UNKNOWN)
    held = [
        {"tokenAddress": to_hex(bytes(token)), "balance": str(reserve)}
        for token, reserve in zip((token0, token1), reserves, strict=True)
    ]
    balances.correct(reader, held, holder=address, block=BlockId(number, bytes(hash_)))
    known = [
        None if {"inconsistentSince", "balanceSince"} & record.keys() else record["balance"]
        for record in held
    ]
    price, fee = _of_node(reader, address, dex, BlockId(number, bytes(hash_)))
    return {
        "address": to_hex(address),
        "blockNumber": number,
        "reserve0": known[0],
        "reserve1": known[1],
        "price": None if price is None else f"{_scaled(price, decimals0 - decimals1):f}",
        "fee": fee,
        "unproven": ("price",) if dex in FEES else ("price", "fee"),
    }


def _of_node(
    reader: Reader, address: bytes, dex: str, head: BlockId
) -> tuple[Decimal | None, int | None]:
    """Return the price of token0's smallest unit in that of token1, and the fee in millionths."""
    calldatas = (GET_RESERVES,) if _is_v2(dex) else (SLOT0, FEE)
    calls = [
        Call("eth_call", ({"to": to_hex(address), "data": calldata, "gas": hex(GAS)}, head))
        for calldata in calldatas
    ]
    try:
        results = reader.node.within(TIMEOUT_S).results(calls, MAX_RESPONSE_BYTES)
    except (UpstreamFailed, Unavailable):
        return None, FEES.get(dex)
    words, *others = map(_words, results)
    if _is_v2(dex):
        return _ratio(words), FEES.get(dex)
    [fee] = others
    return _squared(words), fee[0] if fee and fee[0] < 1 << FEE_BITS else None


def _is_v2(dex: str) -> bool:
    return dex.partition("-0x")[0].removesuffix("-unconfirmed").endswith("v2")


def _words(result: object) -> list[int]:
    """Return the first two words that a call returned; none where it failed or returned less."""
    try:
        words = data(result)
    except BadHex:
        return []
    return [int.from_bytes(words[n : n + 32]) for n in range(0, min(len(words), 64) // 32 * 32, 32)]


def _ratio(reserves: list[int]) -> Decimal | None:
    if len(reserves) < 2 or not all(reserves):
        return None
    return PRICE_DIGITS.divide(Decimal(reserves[1]), Decimal(reserves[0]))


def _squared(slot0: list[int]) -> Decimal | None:
    """Return the price by its square root with 96 bits after the point (sqrtPriceX96)."""
    if not slot0 or not 0 < slot0[0] < 1 << SQRT_PRICE_BITS:
        return None
    root = PRICE_DIGITS.divide(Decimal(slot0[0]), Decimal(1 << 96))
    return PRICE_DIGITS.multiply(root, root)


def _scaled(price: Decimal, places: int) -> Decimal:
    """Return the price of one token in the other; not with zeros that follow from rounding."""
    return PRICE_DIGITS.normalize(PRICE_DIGITS.scaleb(price, places))
