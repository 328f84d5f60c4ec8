"""module=nametag: the operator's labels of addresses."""

from collections.abc import Mapping

from scan.extensions.etherscan.account import NO_DATA
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Reply, rows_reply
from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries import addresses

MOST_ADDRESSES = 100
# What nobody gives here.
UNKNOWN: Mapping[str, object] = {
    **dict.fromkeys(("internal_nametag", "url", "shortdescription", "notes_1", "notes_2"), ""),
    **{name: [] for name in ("labels", "labels_slug", "other_attributes")},
    **dict.fromkeys(("reputation", "lastupdatedtimestamp"), None),
}


def address_tags(parameters: Parameters) -> Reply:
    """Return the addresses that have a label."""
    listed = parameters.addresses("address", MOST_ADDRESSES)
    parties = addresses.parties(reader(), listed)
    rows = [
        {"address": address, "nametag": parties[address]["label"], **UNKNOWN}
        for address in dict.fromkeys(map(to_hex, listed))
        if parties.get(address, {}).get("label")
    ]
    return rows_reply(rows, NO_DATA)
