"""A block's size by the Yellow Paper (appendix B) and EIP-2718, of a node's JSON: nodes may leave
out an empty list of withdrawals, as anvil does."""

import rlp
from eth_utils import decode_hex

from tests.support.chain_forms.encoding import ENCODINGS, HEADER_FIELDS
from tests.support.rehashed_chain import field

LATER = ("blockAccessListHash", "slotNumber")
AUTHORIZATION = ("chainId", "address", "nonce", "yParity", "r", "s")
DATA = ("to", "input", "address")


def size_of(block):
    header = [field(block, name) for name in (*HEADER_FIELDS, *LATER) if name in block]
    lists = [header, [*map(_transaction, block["transactions"])], []]
    if "withdrawalsRoot" in block:
        names = ("index", "validatorIndex", "address", "amount")
        lists.append([[_item(w, name) for name in names] for w in block["withdrawals"]])
    return len(rlp.encode(lists))


def _transaction(sent):
    type_ = int(sent.get("type") or "0x0", 16)
    values = [_item(sent, name) for name in ENCODINGS[type_]]
    return bytes([type_]) + rlp.encode(values) if type_ else values


def _item(record, name):
    value = record["v"] if name == "yParity" and name not in record else record[name]
    if name == "accessList":
        return [
            [decode_hex(e["address"]), [*map(decode_hex, e["storageKeys"])]] for e in value or ()
        ]
    if name == "authorizationList":
        return [[_item(entry, part) for part in AUTHORIZATION] for entry in value]
    if isinstance(value, list):
        return [*map(decode_hex, value)]
    return decode_hex(value or "0x") if name in DATA else int(value, 16)
