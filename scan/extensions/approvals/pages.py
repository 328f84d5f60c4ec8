"""The tab of an address with what others may move of its tokens."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.approvals.api import approvals_of
from scan.extensions.approvals.queries import KINDS
from scan.extensions.transaction_details.decoding import ClearSigning
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.filtered_lists import UNORDERED, Field, FilteredList, filtered_list
from scan.pages.hooks import HOLDINGS, AddressTab, Pages
from scan.pages.records import names_of

# The largest numbers of tokens, which uses do not lower.
_UNLIMITED = tuple(map(str, (2**256 - 1, 2**160 - 1, 2**96 - 1)))
_WORDS = ("an amount", "one NFT", "all NFTs", "an amount through Permit2")
FIELDS = (
    Field("tokenAddress", "Token", "address"),
    Field("spender", "Spender", "address"),
    Field("kind", "Kind", "choice", dict(zip(KINDS, _WORDS, strict=True))),
    Field("ended", "Ended approvals", "flag", {"true": "include"}),
)


def _read(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    owner = to_hex(key)
    shown = filtered_list(
        f"/address/{owner}",
        f"/addresses/{owner}/approvals",
        FIELDS,
        lambda window, filters: approvals_of(key, filters).page(window),
        tab="approvals",
        paging=UNORDERED,
    )
    spenders = (record["spender"] for record in shown.records)
    return shown, {
        "names": names_of(shown.records, owner, *spenders),
        "unlimited": _UNLIMITED,
        "may_describe": reader().sources.get(ClearSigning).may_describe(reader()),
    }


HOOKS = Pages(
    tabs=(
        AddressTab(
            "approvals",
            "Approvals",
            75,
            template="address_approvals.html",
            read=_read,
            group=HOLDINGS,
        ),
    )
)
