"""A block's size by the Yellow Paper (appendix B) and EIP-2718, of a node's JSON: nodes may leave
out an empty list of withdrawals, as anvil does."""

import rlp

from tests.support.chain_forms.encoding import ENCODINGS, HEADER_FIELDS
from tests.support.rehashed_chain import QUANTITIES

LATER = ("blockAccessListHash", "slotNumber")
AUTHORIZATION = ("chainId", "address", "nonce", "yParity", "r", "s")
DATA = ("to", "input", "address")


def size_of(block):
    header = [_header_item(block, name) for name in (*HEADER_FIELDS, *LATER) if name in block]
    lists = [header, [*map(_transaction, block["transactions"])], []]
    if "withdrawalsRoot" in block:
        names = ("index", "validatorIndex", "address", "amount")
        lists.append([[_item(w, name) for name in names] for w in block["withdrawals"]])
    return len(rlp.encode(lists))


def _header_item(block, name):
    return int(block[name], 16) if name in QUANTITIES else _bytes(block[name])


def _transaction(sent):
    type_ = int(sent.get("type") or "0x0", 16)
    values = [_item(sent, name) for name in ENCODINGS[type_]]
    return bytes([type_]) + rlp.encode(values) if type_ else values


def _item(record, name):
    value = record["v"] if name == "yParity" and name not in record else record[name]
    if name == "accessList":
        return [[_bytes(e["address"]), [*map(_bytes, e["storageKeys"])]] for e in value or ()]
    if name == "authorizationList":
        return [[_item(entry, field) for field in AUTHORIZATION] for entry in value]
    if isinstance(value, list):
        return [*map(_bytes, value)]
    return _bytes(value or "0x") if name in DATA else int(value, 16)


def _bytes(text):
    return bytes.fromhex(text[2:])
