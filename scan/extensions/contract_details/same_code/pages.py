"""The tab of a contract with all contracts of equal code."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from scan.extensions.contract_details.same_code import queries
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages import addresses_and_tokens, filtered_lists, hooks, records


def _read(key: bytes) -> tuple[filtered_lists.FilteredList, Mapping[str, Any]]:
    address = to_hex(key)
    shown = filtered_lists.filtered_list(
        f"/address/{address}",
        f"/contracts/{address}/same-code",
        (),
        lambda window, _: queries.page(reader(), key, window),
        tab="same-code",
        paging=filtered_lists.UNORDERED,
        is_by_size=True,
    )
    is_whole = shown.is_counted
    if not is_whole:  # page numbers end where the API's do
        shown = replace(shown, total=queries.MOST_COUNTED, is_counted=True)
    return shown, {"is_whole": is_whole, "names": records.names_of(shown.records, address)}


HOOKS = hooks.Pages(
    tabs=(
        hooks.AddressTab(
            "same-code",
            "Same code",
            140,
            addresses_and_tokens.is_of_contract,
            template="address_same_code.html",
            read=_read,
            group=hooks.CONTRACT,
        ),
    )
)
