"""The price of a block's blobs (EIP-4844), which follows from its header and its chain's forks.

Update fractions are those of EIP-4844 (Cancun), EIP-7691 (Prague) and EIP-7892 (EIP-8134, 8135);
times of forks are those of the chains' configurations in go-ethereum and ethpandaops' networks.
Gnosis Chain has one fraction in all forks, and a least price of its own.
"""

from collections.abc import Mapping, Sequence

WEI_PER_GWEI = 10**9

_CANCUN, _PRAGUE, _BPO1, _BPO2 = 3_338_477, 5_007_716, 8_346_193, 11_684_671
_GNOSIS = 1_112_826
# Times from which a fraction holds, by chain id: mainnet, Sepolia, Holesky, Hoodi, Gnosis, Chiado.
_SCHEDULES: Mapping[int, Sequence[tuple[int, int]]] = {
    1: ((0, _CANCUN), (1_746_612_311, _PRAGUE), (1_765_290_071, _BPO1), (1_767_747_671, _BPO2)),
    11_155_111: (
        (0, _CANCUN),
        (1_741_159_776, _PRAGUE),
        (1_761_017_184, _BPO1),
        (1_761_607_008, _BPO2),
    ),
    17_000: (
        (0, _CANCUN),
        (1_740_434_112, _PRAGUE),
        (1_759_800_000, _BPO1),
        (1_760_389_824, _BPO2),
    ),
    560_048: (
        (0, _CANCUN),
        (1_742_999_832, _PRAGUE),
        (1_762_365_720, _BPO1),
        (1_762_955_544, _BPO2),
    ),
    **dict.fromkeys((100, 10_200), ((0, _GNOSIS),)),
}
_LEAST = dict.fromkeys((100, 10_200), WEI_PER_GWEI)

_MOST = 178  # times its update fraction: beyond it a price has more than 256 bits


class UnknownSchedule(ValueError):
    """The forks of a chain are not known, so that a price cannot be derived."""


def blob_price(chain_id: int | None, timestamp_s: int, excess_blob_gas: int) -> int:
    """Return the price in wei. Raises ValueError for an impossible excess, and UnknownSchedule for
    any on a chain whose forks are not known: without an excess the price is the least."""
    least = _LEAST.get(chain_id or 0, 1)
    if not excess_blob_gas:
        return least
    schedule = _SCHEDULES.get(chain_id or 0)
    if schedule is None:
        raise UnknownSchedule(
            f"prices of blobs cannot be derived: forks of chain {chain_id} are unknown"
        )
    fraction = [fraction for first_s, fraction in schedule if timestamp_s >= first_s][-1]
    return price_by(fraction, excess_blob_gas, least)


def is_known_chain(chain_id: int | None) -> bool:
    return chain_id in _SCHEDULES


def may_be_later_fork(chain_id: int | None, timestamp_s: int) -> bool:
    """Return whether a block is as late as the last fork that is known of its chain, or nothing is
    known: a fork after it changes the fraction without another sign in a block (EIP-7892)."""
    schedule = _SCHEDULES.get(chain_id or 0)
    return schedule is None or timestamp_s >= schedule[-1][0]


def price_by(fraction: int, excess_blob_gas: int, least: int = 1) -> int:
    """Return the price in wei by an update fraction. Raises ValueError for an impossible excess."""
    if fraction <= 0 or excess_blob_gas > _MOST * fraction:
        raise ValueError("excessBlobGas is beyond any price")
    return _exponential(least, excess_blob_gas, fraction)


def _exponential(factor: int, numerator: int, denominator: int) -> int:
    """Return factor * e**(numerator / denominator) as EIP-4844's fake_exponential does, by its
    series."""
    total, term, index = 0, factor * denominator, 1
    while term > 0:
        total += term
        term = term * numerator // (denominator * index)
        index += 1
    return total // denominator
