"""A long source on a contract's page."""

import re

from scan.extensions.contract_details.source_files import MAX_SHOWN_LINES
from tests.support.many_functions import CHECKSUMMED, VERSION, deploy
from tests.support.serving import wait_until


def test_a_long_source_is_cut_and_whole_elsewhere(explorer):
    source = "contract Long { uint256 public x = 31415; }\n" + "// <b>\n" * 60_000
    address = deploy(explorer, source[: source.index("\n")], "Long")
    answer = explorer.verify(address, source[:400_000], VERSION, contractName="Long")
    assert answer.status_code == 200, answer.json
    page = {"path": f"/address/{address}", "query_string": {"tab": "contract"}}
    wait_until(lambda: "ETag" in explorer.client.get(**page).headers)  # its balance may come late
    shown = explorer.client.get(**page)
    assert len(shown.data) < 45_000 and re.search("All 5[0-9],[0-9]{3} lines", shown.text)
    file = explorer.contract(address).json["filePath"]
    query = {"tab": "contract", "file": file, "find": "END"}
    alone = explorer.client.get(f"/address/{address}", query_string=query).text
    assert len(re.findall(r"<span id=L\d+><i class=c>//", alone)) == MAX_SHOWN_LINES - 1
    tagged = {"If-None-Match": shown.headers["ETag"]}
    path = f"/address/{address}?tab=contract"
    assert explorer.client.get(path, headers=tagged).status_code == 304
    [link] = set(re.findall(r'href="(/address/0x[0-9a-f]{40}/source\?file=[^"]+)"', shown.text))
    whole = explorer.client.get(link)
    assert (whole.status_code, whole.mimetype) == (200, "text/plain")
    assert whole.text == source[:400_000]
    assert whole.headers["X-Content-Type-Options"] == "nosniff"
    for other in (f"{link}x", link.replace(address, CHECKSUMMED.lower())):
        assert explorer.client.get(other).status_code == 404
