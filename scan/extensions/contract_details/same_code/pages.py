"""The tab of a contract with all contracts of equal code."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scan.extensions.contract_details.same_code import queries
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.addresses_and_tokens import is_of_contract
from scan.pages.filtered_lists import UNORDERED, FilteredList, filtered_list
from scan.pages.hooks import CONTRACT, AddressTab, Pages
from scan.pages.records import names_of


def _read(key: bytes) -> tuple[FilteredList, Mapping[str, Any]]:
    address = to_hex(key)
    shown = filtered_list(
        f"/address/{address}",
        f"/contracts/{address}/same-code",
        (),
        lambda window, _: queries.page(reader(), key, window),
        tab="same-code",
        paging=UNORDERED,
        is_by_size=True,
    )
    is_whole = shown.is_counted
    if not is_whole:  # page numbers end where the API's do
        shown = replace(shown, total=queries.MOST_COUNTED, is_counted=True)
    return shown, {"is_whole": is_whole, "names": names_of(shown.records, address)}


HOOKS = Pages(
    tabs=(
        AddressTab(
            "same-code",
            "Same code",
            140,
            is_of_contract,
            template="address_same_code.html",
            read=_read,
            group=CONTRACT,
        ),
    )
)
