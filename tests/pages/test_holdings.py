"""The tokens that an address held after a block or on a day, on its page."""

import pytest

from tests.support import database, indexing


@pytest.fixture(scope="module")
def holder(scenario):
    addresses = {t["toAddress"] for t in scenario.truth.token_transfers} - {"0x" + "0" * 40}
    return max(addresses, key=lambda a: len(scenario.truth.tokens_held_by(a)))


def test_holdings_that_are_no_longer_known_are_told(postgres, indexed_template, indexed, holder):
    with postgres.cloned(indexed_template) as url:
        database.execute(url, "INSERT INTO retention VALUES (true, 40, 90, now(), 40)")
        client = indexing.client_over(url, indexed.settings.rpc_urls[0])
        page = client.get(f"/address/{holder}?tab=tokens&block=3")
    assert page.status_code == 422 and "before block 40 are not kept" in page.text
