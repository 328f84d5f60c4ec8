"""Hard forks of a chain: those that a node has scheduled (EIP-7910), whether this version of Scan
knows them, and the price of a block's blobs (EIP-4844), which follows from its header and its
chain's forks, or from the node's schedule where they are not known.

Update fractions are those of EIP-4844 (Cancun), EIP-7691 (Prague) and EIP-7892 (EIP-8134, 8135);
times of forks are those of the chains' configurations in go-ethereum and ethpandaops' networks.
Gnosis Chain has one fraction in all forks, and a least price of its own.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from scan.ethereum import block_encoding, block_hashing, blocks, client, transaction_checks
from scan.hex import json_object, quantity

# The deposit contracts of mainnet and Hoodi, of Sepolia, of Holesky.
DEPOSIT_CONTRACTS = frozenset(
    (
        bytes.fromhex("00000000219ab540356cbb839cbe05303d7705fa"),
        bytes.fromhex("7f02c3e3c98b133055b8b348b2ac625669ed295d"),
        bytes.fromhex("4242424242424242424242424242424242424242"),
    )
)
WITHDRAWAL_CONTRACT = bytes.fromhex("00000961ef480eb55e80d19ad83579a64c007002")
CONSOLIDATION_CONTRACT = bytes.fromhex("0000bbddc7ce488642fb579f8b00f3a590007251")
BUILDER_DEPOSIT_CONTRACT = bytes.fromhex("0000bff46984e3725691fa540a8c7589300d8282")
BUILDER_EXIT_CONTRACT = bytes.fromhex("000064d678505ad48f8ccb093bc65613800e8282")
# System contracts of the forks up to Amsterdam: those of requests, of EIP-4788 and of EIP-2935.
_KNOWN_CONTRACTS = {
    *("0x" + address.hex() for address in DEPOSIT_CONTRACTS),
    "0x" + WITHDRAWAL_CONTRACT.hex(),
    "0x" + CONSOLIDATION_CONTRACT.hex(),
    "0x" + BUILDER_DEPOSIT_CONTRACT.hex(),
    "0x" + BUILDER_EXIT_CONTRACT.hex(),
    "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
    "0x0000f90827f1c53a10cb7a02335b175320002935",
}
_MOST_CHARACTERS = 100
# The newest forks whose times are decided, by chain id: EIP-7773 for Sepolia. Hoodi's time was
# withdrawn, and mainnet has none yet.
NEWEST_FORKS: Mapping[int, tuple[str, int]] = {11_155_111: ("Amsterdam", 1_791_294_816)}


def fork_warnings(node: client.Node) -> tuple[str, str]:
    """Return two sentences, "" where there is nothing to say, as for a node without eth_config.

    One is about the next scheduled fork where this version does not know it: Amsterdam is known by
    its time or its system contracts, and a fork that changes nothing but blobs' parameters
    (EIP-7892) changes no block's form. The other is about the chain's newest fork where the node
    has another schedule, and so leaves the chain at its time. Raises NodeError.
    """
    try:
        schedule = node.call("eth_config")
    except client.RpcError:
        return "", ""
    try:
        current, following, last = (schedule[name] for name in ("current", "next", "last"))
        chain_id = quantity(json_object(current).get("chainId") or "0x0")
        name, time_s = NEWEST_FORKS.get(chain_id, ("", 0))
        unknown = missed = ""
        later = following or last
        if later is not None and not _is_known(current, later, time_s):
            when, fork_id = (
                _moment(later["activationTime"]),
                str(later["forkId"])[:_MOST_CHARACTERS],
            )
            words = "that this version does not know"
            unknown = f"a fork is scheduled for {when} (fork id {fork_id}) {words}"
        times = {fork["activationTime"] for fork in (current, following, last) if fork is not None}
        if current["activationTime"] < time_s and time_s not in times:
            missed = f"the node does not know the fork {name} of {_moment(time_s)}"
        return unknown, missed
    except (KeyError, TypeError, ValueError, OverflowError, OSError) as error:
        raise client.NodeError(f"the node's eth_config is malformed: {error!r}"[:200]) from None


def _moment(time_s: int) -> str:
    return datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _is_known(current: dict[str, Any], following: dict[str, Any], newest_s: int) -> bool:
    time_s = following["activationTime"]
    if time_s <= current["activationTime"] or time_s == newest_s:
        return True
    before, after = _contracts(current), _contracts(following)
    has_same_code = current["precompiles"] == following["precompiles"]
    if has_same_code and before == after:
        return bool(current["blobSchedule"] != following["blobSchedule"])
    return has_same_code and before < after <= _KNOWN_CONTRACTS | before


def _contracts(fork: dict[str, Any]) -> set[str]:
    return {str(address).lower() for address in json_object(fork["systemContracts"]).values()}


# Of Cancun, Prague and the forks that changed blobs' parameters alone, in their order.
_FRACTIONS = (3_338_477, 5_007_716, 8_346_193, 11_684_671)
_GNOSIS_FRACTION = 1_112_826
# Times from which a fraction holds, by chain id: mainnet, Sepolia, Holesky, Hoodi, Gnosis, Chiado.
SCHEDULES: Mapping[int, Sequence[tuple[int, int]]] = {
    1: [*zip((0, 1_746_612_311, 1_765_290_071, 1_767_747_671), _FRACTIONS, strict=True)],
    11_155_111: [*zip((0, 1_741_159_776, 1_761_017_184, 1_761_607_008), _FRACTIONS, strict=True)],
    17_000: [*zip((0, 1_740_434_112, 1_759_800_000, 1_760_389_824), _FRACTIONS, strict=True)],
    560_048: [*zip((0, 1_742_999_832, 1_762_365_720, 1_762_955_544), _FRACTIONS, strict=True)],
    **dict.fromkeys((100, 10_200), ((0, _GNOSIS_FRACTION),)),
}
_LEAST = dict.fromkeys((100, 10_200), blocks.WEI_PER_GWEI)

_MOST = 178  # times its update fraction: beyond it a price has more than 256 bits


class UnknownSchedule(ValueError):
    """The forks of a chain are not known, so that a price cannot be derived."""


def blob_price(chain_id: int | None, timestamp_s: int, excess_blob_gas: int) -> int:
    """Return the price in wei. Raises ValueError for an impossible excess, and UnknownSchedule for
    any on a chain whose forks are not known: without an excess the price is the least."""
    least = _LEAST.get(chain_id or 0, 1)
    if not excess_blob_gas:
        return least
    schedule = SCHEDULES.get(chain_id or 0)
    if schedule is None:
        raise UnknownSchedule(
            f"prices of blobs cannot be derived: forks of chain {chain_id} are unknown"
        )
    fraction = [fraction for first_s, fraction in schedule if timestamp_s >= first_s][-1]
    return price_by(fraction, excess_blob_gas, least)


def price_by(fraction: int, excess_blob_gas: int, least: int = 1) -> int:
    """Return the price in wei by an update fraction. Raises ValueError for an impossible excess."""
    if fraction <= 0 or excess_blob_gas > _MOST * fraction:
        raise ValueError("excessBlobGas is beyond any price")
    # EIP-4844's fake_exponential: least * e**(excess / fraction), by its series.
    total, term, index = 0, least * fraction, 1
    while term > 0:
        total += term
        term = term * excess_blob_gas // (fraction * index)
        index += 1
    return total // fraction


PRICES = "prices of blobs, whose schedule is the node's"


def unproven_blob_prices(
    header: Any,
    transactions: Sequence[Any],
    receipts: Sequence[Any],
    raw: block_hashing.RawBlock,
    chain_id: int | None,
) -> list[str]:
    """Compare the price that receipts have with the header's excessBlobGas by the chain's schedule,
    and put it into receipts without one. Return the words of a price that is the node's alone.
    Raises Contradiction."""
    blobs = [
        (sent, receipt)
        for sent, receipt in zip(transactions, receipts, strict=True)
        if sent.blobVersionedHashes
        and block_encoding.type_number(sent.type) == transaction_checks.BLOBS
    ]
    if not blobs:
        return []
    prices = {int(r.blobGasPrice, 16) for _, r in blobs if r.blobGasPrice is not None}
    price, is_known = _price(header, prices, raw, chain_id)
    if price is None or prices - {price}:
        raise transaction_checks.Contradiction("blobGasPrice and excessBlobGas")
    if any(price > int(sent.maxFeePerBlobGas, 16) for sent, _ in blobs):
        raise transaction_checks.Contradiction("blobGasPrice and maxFeePerBlobGas")
    for _, receipt in blobs:
        receipt.blobGasPrice = hex(price)
    return [] if is_known else [PRICES]


def _price(
    header: Any, prices: set[int], raw: block_hashing.RawBlock, chain_id: int | None
) -> tuple[int | None, bool]:
    """Return the price of a block's blobs, None where nothing tells it; and whether it follows from
    a schedule that this version of Scan knows."""
    time_s, excess = int(header.timestamp, 16), int(header.excessBlobGas or "0x0", 16)
    try:
        price = blob_price(chain_id, time_s, excess)
        # A fork after the last known one changes the fraction without another sign (EIP-7892).
        schedule = SCHEDULES.get(chain_id or 0)
        if prices <= {price} or (schedule and time_s < schedule[-1][0]):
            return price, True
    except UnknownSchedule:
        pass
    fraction = raw.blob_fraction(time_s)
    if fraction is not None:
        price = price_by(fraction, excess)
        if prices <= {price}:
            return price, False
    return (next(iter(prices)) if len(prices) == 1 and chain_id not in SCHEDULES else None), False
