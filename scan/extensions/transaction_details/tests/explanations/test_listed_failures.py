"""Why transactions failed, in lists: from what is stored alone."""

import re
from html import unescape

from app import create_app
from tests.support import database, indexing

NOBODY = "http://127.0.0.1:9"
REASON = re.compile(r'href="/tx/(0x\w{64})#reason"[^>]*><bdi>([^<]*)</bdi>')
STORED = {
    "require": "the door is shut",
    "panic 0x11": "panic 0x11 (arithmetic overflow or underflow)",
    "own error": "Refused(",
    "callee's error": "NotAllowed(",
    "silent": "The call reverted without a reason",
    "invalid opcode": "The contract ran an invalid instruction",
    "unknown data": "The call reverted with data that no known ABI decodes",
}


def test_lists_say_why_transactions_failed_without_the_node(played):
    """Of one whose reason nobody has read yet, only that it used all its gas."""
    for name in STORED:
        answer = played.client.get(f"/api/v1/transactions/{played.sent[name]}").json
    forget = "DELETE FROM transaction_failures WHERE transaction_hash = %s"
    for name in ("out of gas", "silent inside"):
        database.execute(played.url, forget, bytes.fromhex(played.sent[name][2:]))
    client = create_app(indexing.settings_for(played.url, NOBODY)).test_client()
    for path in ("/txs?status=false&limit=100", f"/address/{played.anvil.accounts[0]}?limit=100"):
        page = client.get(path)
        reasons = {hash_: unescape(text) for hash_, text in REASON.findall(page.text)}
        assert page.status_code == 200 and len(reasons) == page.text.count('class="failed"') > 0
        for name, words in STORED.items():
            assert reasons[played.sent[name]].startswith(words), name
        assert reasons[played.sent["out of gas"]] == "used all its gas"
        assert reasons[played.sent["silent inside"]] == "Why?"
    assert REASON.search(client.get(f"/block/{answer['blockNumber']}").text)
