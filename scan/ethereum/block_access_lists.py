"""Block access lists (EIP-7928), whose hash is in the header: what accounts had after transactions.

Pure. Lists are read from their RLP, or from the JSON of execution-apis, which is encoded first, or
that of clients from before their names: the hash tells whether it was understood.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scan.ethereum.keccak import keccak256
from scan.ethereum.rlp import item_content, list_item, quantity_item, split_list, string_item

MOST_ITEMS = 1_000_000  # of a list; what is read of the node is bounded before
MOST_ACCOUNT_ITEMS = 8  # six, and what later forks append (EIP-8268)
# Names of fields in execution-apis, then in alloy-eip7928 before 0.4.11.
_NAMES = {
    "key": ("key", "slot"),
    "index": ("index", "blockAccessIndex", "txIndex"),
    "value": ("value", "postBalance", "newNonce", "newValue"),
    "code": ("code", "newCode"),
}
# Of an account, by address: indexes and balances in wei. Index 0 is before the first transaction, 1
# after it, and so on.
BalanceChanges = Mapping[bytes, Sequence[tuple[int, int]]]


def balance_changes(encoded: bytes, hash_: bytes) -> BalanceChanges:
    """Return the balances that transactions changed. Raises ValueError where the list has another
    hash, or is none."""
    if keccak256(encoded) != hash_:
        raise ValueError("another hash")
    changes = {}
    for account in split_list(encoded, MOST_ITEMS):
        address, _, _, balances, *_ = split_list(account, MOST_ACCOUNT_ITEMS)
        pairs = (split_list(change, 2) for change in split_list(balances, MOST_ITEMS))
        changes[item_content(address)] = [(_number(index), _number(wei)) for index, wei in pairs]
    return changes


def encode_access_list(accounts: Any) -> bytes:
    """Return the RLP of a result of eth_getBlockAccessList. Raises ValueError, TypeError, KeyError
    and AttributeError where it is malformed."""
    return bytes.fromhex(list_item("".join(map(_account, accounts))))


def _account(account: Any) -> str:
    slots = "".join(
        list_item(quantity_item(_field(slot, "key")) + _changes(slot["changes"]))
        for slot in account.get("storageChanges") or ()
    )
    reads = "".join(map(quantity_item, account.get("storageReads") or ()))
    amounts = "".join(
        _changes(account.get(name) or ()) for name in ("balanceChanges", "nonceChanges")
    )
    codes = _changes(account.get("codeChanges") or (), "code", string_item)
    address = string_item(account["address"])
    return list_item(address + list_item(slots) + list_item(reads) + amounts + codes)


def _changes(changes: Any, name: str = "value", item: Callable[[str], str] = quantity_item) -> str:
    pairs = [
        list_item(quantity_item(_field(change, "index")) + item(_field(change, name)))
        for change in changes
    ]
    return list_item("".join(pairs))


def _field(record: Any, name: str) -> str:
    """Return a field by any of its names; a number as a QUANTITY. Raises KeyError."""
    names = [other for other in _NAMES[name] if other in record]
    value = record[names[0] if names else name]
    return hex(value) if isinstance(value, int) else value


def _number(item: bytes) -> int:
    return int.from_bytes(item_content(item))
