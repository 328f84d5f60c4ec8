"""The largest of the newest transfers, of coin or of a token."""

from typing import NamedTuple

from scan.queries.reader import Reader

LARGEST = 10


class Largest(NamedTuple):
    """`data` is a JSON array as text, of transactions or of token transfers, largest first."""

    data: str
    sample: int  # how many of the newest were looked through
    first_block: int | None  # of these


def of_coin(reader: Reader) -> Largest:
    return Largest(*reader.row("queries/transactions_list_largest", limit=LARGEST))


def of_token(reader: Reader, token: bytes) -> Largest:
    row = reader.row("queries/token_transfers_list_largest", token=token, limit=LARGEST)
    return Largest(*row)
