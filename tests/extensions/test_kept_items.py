"""Transfers of items whose older ones are removed."""

from app import create_app
from scan.extensions.retention.tests.test_retention import remove
from tests.support import indexing, serving


def test_the_transfers_of_an_item_begin_with_the_first_that_is_kept(
    postgres, indexed_template, scenario
):
    transfers = scenario.truth.token_transfers[::-1]
    blocks = [transfer["blockNumber"] for transfer in transfers]
    kept = next(
        transfer
        for number, transfer in enumerate(transfers)
        if transfer["tokenId"] is not None and blocks.index(transfer["blockNumber"]) == number
    )
    with postgres.cloned(indexed_template) as url:
        remove(url, kept["blockNumber"])
        client = create_app(indexing.settings_for(url, serving.NOWHERE)).test_client()
        path = f"/api/v1/tokens/{kept['tokenAddress']}/items/{kept['tokenId']}/transfers"
        oldest = client.get(path).json["transfers"][-1]
    expected = (kept["transactionHash"], kept["logIndex"])
    assert (oldest["transactionHash"], oldest["logIndex"]) == expected
