"""From a block to its internal transfers, and from a row of a list to that of its transaction."""

import re


def test_a_block_leads_to_its_internal_transfers(client, scenario):
    transfers = scenario.truth.internal_transfers
    for number in {row["blockNumber"] for row in transfers}:
        own = [row for row in transfers if row["blockNumber"] == number]
        assert client.get(f"/api/v1/blocks/{number}").json["internalTransferCount"] == len(own)
        link = f"/internal-transfers?blockFrom={number}&amp;blockTo={number}"
        assert f'<a href="{link}">{len(own)}</a>' in client.get(f"/block/{number}").text
        rows = client.get(f"/internal-transfers?blockFrom={number}&blockTo={number}&limit=100").text
        links = re.findall(r'class="lead"[^>]*><a href="/tx/(0x\w+)#(internal-\d+)"', rows)
        expected = [(t["transactionHash"], f"internal-{t['transferIndex']}") for t in own[:100]]
        assert links == expected
        for sent, row in links[:3]:
            assert client.get(f"/tx/{sent}").text.count(f'<tr id="{row}">') == 1
