"""What stands in a template for what each height has of its own: a prefix, and a number. Pure."""

from typing import Any

# Of parties, and of hashes.
ADDRESS_MARK, HASH_MARK = "f1e2d3c4b5a6", "f1e2d3c4b5a7"
# Numbers of hashes, after those of transactions; signatures have two halves of the same size.
BLOCK_HASH, FIRST_TRANSACTION = 0, 1

Json = dict[str, Any]


def address_mark(number: int) -> str:
    return f"0x{ADDRESS_MARK}{number:028x}"


def hash_mark(number: int) -> str:
    return f"0x{HASH_MARK}{number:052x}"
