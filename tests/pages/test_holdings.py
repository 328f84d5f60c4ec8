"""The tokens that an address held after a block or on a day, on its page."""

import re
from html import unescape

import pytest

from tests.support import database, indexing


@pytest.fixture(scope="module")
def holder(scenario):
    addresses = {t["toAddress"] for t in scenario.truth.token_transfers} - {"0x" + "0" * 40}
    return max(addresses, key=lambda a: len(scenario.truth.tokens_held_by(a)))


ROW = re.compile(
    r'data-label="Token"><a href="/token/(0x\w+)".*?<data class="amount" value="(\d+)"', re.S
)


def test_holdings_after_a_block_are_those_of_the_api(client, scenario, holder):
    moved = [
        t for t in scenario.truth.token_transfers if holder in (t["fromAddress"], t["toAddress"])
    ]
    blocks = sorted({t["blockNumber"] for t in moved})
    assert len(blocks) > 3
    path = f"/address/{holder}?tab=tokens"
    for number in (blocks[0] - 1, blocks[1], blocks[len(blocks) // 2], blocks[-1]):
        expected = client.get(f"/api/v1/addresses/{holder}/tokens?block={number}&limit=100").json
        page = client.get(f"{path}&block={number}&limit=100")
        rows = [(row["tokenAddress"], row["balance"]) for row in expected["tokens"]]
        assert page.status_code == 200 and ROW.findall(page.text) == rows, number
        assert f'After block <a href="/block/{number}">' in page.text
        assert "format=csv" not in page.text  # a file has the newest state
        [json_path] = re.findall(r'class="json" href="([^"]+)"', page.text)
        assert client.get(unescape(json_path)).status_code == 200
    assert rows and "After block <a" not in client.get(path).text
    assert len({str(ROW.findall(client.get(f"{path}&block={n}").text)) for n in blocks}) > 3


def test_holdings_that_are_no_longer_known_are_told(postgres, indexed_template, indexed, holder):
    with postgres.cloned(indexed_template) as url:
        database.execute(url, "INSERT INTO retention VALUES (true, 40, 90, now(), 40)")
        client = indexing.client_over(url, indexed.settings.rpc_urls[0])
        page = client.get(f"/address/{holder}?tab=tokens&block=3")
    assert page.status_code == 422 and "before block 40 are not kept" in page.text
