"""The price of a block's blobs (EIP-4844), which follows from its header and its chain's forks.

Update fractions are those of EIP-4844 (Cancun), EIP-7691 (Prague) and EIP-7892 (EIP-8134, 8135);
times of forks are those of the chains' configurations in go-ethereum and ethpandaops' networks.
"""

from collections.abc import Mapping, Sequence

_CANCUN, _PRAGUE, _BPO1, _BPO2 = 3_338_477, 5_007_716, 8_346_193, 11_684_671
# Times from which a fraction holds, by chain id: mainnet, Sepolia, Holesky, Hoodi.
_SCHEDULES: Mapping[int, Sequence[tuple[int, int]]] = {
    1: ((0, _CANCUN), (1_746_612_311, _PRAGUE), (1_765_290_071, _BPO1), (1_767_747_671, _BPO2)),
    11_155_111: (
        *((0, _CANCUN), (1_741_159_776, _PRAGUE)),
        *((1_761_017_184, _BPO1), (1_761_607_008, _BPO2)),
    ),
    17_000: (
        *((0, _CANCUN), (1_740_434_112, _PRAGUE)),
        *((1_759_800_000, _BPO1), (1_760_389_824, _BPO2)),
    ),
    560_048: (
        *((0, _CANCUN), (1_742_999_832, _PRAGUE)),
        *((1_762_365_720, _BPO1), (1_762_955_544, _BPO2)),
    ),
}


_MOST = 178  # times its update fraction: beyond it a price has more than 256 bits


def blob_price(chain_id: int, timestamp_s: int, excess_blob_gas: int) -> int:
    """Return the price in wei. Raises ValueError for an impossible excess, and for any on a chain
    whose forks are not known: without an excess the price is the same in all forks."""
    if not excess_blob_gas:
        return 1
    schedule = _SCHEDULES.get(chain_id)
    if schedule is None:
        raise ValueError(
            f"prices of blobs cannot be derived: forks of chain {chain_id} are unknown"
        )
    fraction = [fraction for first_s, fraction in schedule if timestamp_s >= first_s][-1]
    if excess_blob_gas > _MOST * fraction:
        raise ValueError("excessBlobGas is beyond any price")
    return _exponential(excess_blob_gas, fraction)


def _exponential(numerator: int, denominator: int) -> int:
    """Return e**(numerator / denominator) as EIP-4844's fake_exponential does, by its series."""
    total, term, index = 0, denominator, 1
    while term > 0:
        total += term
        term = term * numerator // (denominator * index)
        index += 1
    return total // denominator
