"""Every transfer of a token, by cursor, also while blocks arrive and forks happen.

    python client_cursors.py http://127.0.0.1:8000 0x5fbdb2315678afecb367f032d93f642f64180aa3

Uses the Python client that `make release` generates from the OpenAPI document.
"""

import sys
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from scan_client import Client
from scan_client.api.tokens import list_transfers_of_token
from scan_client.models import QueryOrder
from scan_client.types import UNSET


def transfers(client: Client, token: str) -> Iterator[dict[str, Any]]:
    """Oldest first. After a fork, {"droppedAbove": N} says which rows were taken back."""
    cursor: Any = UNSET
    while True:
        response = list_transfers_of_token.sync_detailed(
            token,
            client=client,
            order_by=QueryOrder.ASC,
            limit=100,
            page=UNSET,  # a cursor takes its place
            cursor=cursor,
        )
        page = response.parsed.to_dict()
        if response.status_code == HTTPStatus.CONFLICT:  # the row of the cursor is not on the chain
            yield {"droppedAbove": page["commonBlock"]["number"]}
        elif response.status_code != HTTPStatus.OK:
            raise RuntimeError(page["error"])
        else:
            yield from page["transfers"]
        if page.get("next") is None:
            return
        cursor = page["next"]


if __name__ == "__main__":
    base_url, token_address = sys.argv[1:]
    count = 0
    for row in transfers(Client(base_url=base_url), token_address):
        if "droppedAbove" in row:
            print("drop what is of blocks above", row["droppedAbove"])
        else:
            count += 1
    print(count, "transfers")
