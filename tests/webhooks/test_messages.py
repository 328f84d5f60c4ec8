"""Events as messages for people: their sentences, what strangers put into them, their pace."""

import html
import re

import pytest

from scan.hex import to_hex
from scan.webhooks.messages import FORMATS, SummaryPart, Unit, amount, plain, plain_summary
from tests.support.database import insert
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.receiver import Answer
from tests.support.serving import wait_until
from tests.support.webhooks import CLIENT, create

OWNER, SHOP = address("owner"), address("shop")
QUOTED = f"{to_hex(TOKEN)[:8]}…{to_hex(TOKEN)[-4:]}"


def lines_of(form, body):
    if form == "teams":
        [attachment] = body["attachments"]
        [block] = attachment["content"]["body"]
        return block["text"].split("\n\n")
    return body["content" if form == "discord" else "text"].split("\n")


@pytest.mark.parametrize("form", FORMATS)
def test_events_are_sent_as_messages_each_once_and_several_joined(webhooks, receiver, form):
    webhooks.chain.append([Move(SHOP, SHOP, tokens=1)])
    webhooks.execute("UPDATE tokens SET symbol = 'TOK', decimals = 2")
    webhooks.register(OWNER, receiver.url("/?chat_id=-7"), ("tx", "token_transfer"), format=form)
    hashes = webhooks.chain.append([Move(SHOP, OWNER, value=10**18, tokens=n) for n in range(7)])
    pages = "https://scan.example.org"
    with webhooks.delivering(public_url=pages):
        receiver.wait_for(2)
        wait_until(lambda: not webhooks.pending())
    bodies = [request.event for request in receiver.received]
    lines = [line for body in bodies for line in lines_of(form, body)]
    assert len(bodies) == 2
    assert len(lines) == 14
    for n, hash_ in enumerate(hashes):
        coin, token = lines[2 * n], lines[2 * n + 1]
        assert "received 1 ETH from" in coin
        assert f"received {f'0.0{n}' if n else '0'} “TOK” ({QUOTED}) from" in token
        assert f"{pages}/tx/{to_hex(hash_)}" in coin
    first, second = receiver.received
    assert second.at - first.at >= FORMATS[form].pause_s * 0.9


def test_the_chat_of_telegram_is_that_of_the_url(webhooks, receiver):
    url = receiver.url("/bot1:x/sendMessage?chat_id=-100&message_thread_id=5")
    webhooks.register(OWNER, url, format="telegram")
    webhooks.chain.append([Move(OWNER, SHOP)])
    with webhooks.delivering():
        [request] = receiver.wait_for(1)
    event = request.event
    assert (event["chat_id"], event["message_thread_id"]) == ("-100", "5")
    status, error = create(webhooks, to_hex(OWNER), CLIENT, format="telegram")
    assert (status, error["field"]) == (400, "url")


def test_a_receiver_that_asks_for_patience_gets_it_and_every_event(webhooks, receiver):
    answers = iter([Answer(429, (("Retry-After", "2"),)), Answer(204), Answer(204)])
    receiver.behaviour = lambda *_: next(answers)
    webhooks.register(OWNER, receiver.url("/"), format="slack")
    webhooks.chain.append([Move(OWNER, SHOP, value=5)])
    with webhooks.delivering():
        first, second = receiver.wait_for(2)
        wait_until(lambda: not webhooks.pending())
    assert first.body == second.body
    assert second.at - first.at >= 1.9


HOSTILE = [
    "@everyone", "<!channel>", "<@U123>", "[free](https://evil.example)", "https://evil.example",
    "evil.example", "**bold**", "_x_", "`code`", "~no~", "||spoiler||", "# head", "> quote",
    "\u202eevil", "a\u200bb", "\u2066x", "\u05d0\u05d1 1", "&lt;b&gt;", "<b>x</b>", "line\nbreak",
    "\x1b[31m", "tg://resolve?domain=x", "#channel", ":smile:", "www.evil.example", "t.me/evil",
    "8.8.8.8", "8.8.8.8:443", "[::1]", "+1 555 123 4567", "(555) 123-4567", "tel 555.123.4567",
    "\uff0b1\uff15\uff15\uff15 \uff11\uff12\uff13", "\u0665\u0665\u0665\u0661\u0662",
    "\u2460\u2461\u2462\u2463\u2464", "\U0001d7d3" * 5, "4111 1111 1111 1111",
    "ETH from 0xd8dA6BF26964", "\u3164", "\u115f\u1160", "A\u3164B", "\u2800x", "\U000e0041x",
    "\ufe0fx", "x\u034fy", "a\u3002com", "a\uff0ecom", "a\u2024com", "<:x:123>", "<t:1700000000>",
    "/start", "@here", "mail@evil.example", "$ETH", "x\u201d (0x1111", "\u201cx\u201d", "U.S.A",
    "evil.x.com", "1.5.evil", "a" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_strangers_chose_is_no_markup(name):
    text = plain(name)
    assert len(text) <= 24
    assert not re.search(
        r"[^\w\-. ]|_|\.(?!\w\Z)|\d\.|0x[0-9a-f]{4}|[\u3164\u115f\u1160\u2800]", text
    )
    assert sum(map(str.isnumeric, text)) <= 4
    assert html.escape(text) == text


def test_names_keep_what_is_read():
    texts = {"USDC.e": "USDC.e", "1INCH": "1INCH", "$WIF": "WIF", "E\u3164TH": "ETH"}
    assert {name: plain(name) for name in texts} == texts


@pytest.mark.parametrize("name", [*HOSTILE[:-1], "1.2.3.4", "x#tag", "#5evil"])
def test_a_sentence_about_a_transaction_keeps_its_amounts_and_has_no_markup(name):
    summary = f"Sent 1,234.56 “{name}” to Box #12…78, and 0.25 more"
    text = plain_summary([SummaryPart(summary)], {})
    assert text.startswith("Sent 1,234.56 “")
    assert text.endswith("” to Box #12…78, and 0.25 more")
    assert not re.search(r"[^\w$+\-. ,()“”…#]|_", text)
    chosen = text.removeprefix("Sent 1,234.56 “").removesuffix("” to Box #12…78, and 0.25 more")
    assert not re.search(r"\.\w\w|\d\.|#", chosen)
    assert sum(map(str.isnumeric, chosen)) <= 8  # where it ends the quotation, in two
    assert html.escape(text) == text
    long = plain_summary([SummaryPart("Sent " + "word " * 100)], {})
    assert long == f"Sent {'word ' * 58}word…"


def test_a_token_in_a_sentence_keeps_the_name_that_tells_it_from_others():
    token, units = to_hex(TOKEN), {to_hex(TOKEN): Unit("USDX", 6)}
    for text, said in (("5 USD", "5 USDX"), ("5 “USD”", "5 “USD”"), (QUOTED, QUOTED)):
        assert plain_summary([SummaryPart(text, "token", token)], units) == said


@pytest.mark.parametrize(
    ("symbol", "is_listed", "said"),
    [
        ("TOK", False, "“TOK” ({})"),
        ("TOK", True, "USDX"),
        ("ETH", False, "“ETH” ({}, which has the coin's symbol)"),
        ("0LD", False, "“0LD” ({}, which has another token's symbol)"),
        ("", False, "tokens of {}"),
    ],
)
def test_a_token_is_told_from_the_coin_and_from_those_it_imitates(
    webhooks, receiver, symbol, is_listed, said
):
    webhooks.chain.append([Move(SHOP, SHOP, tokens=1)])
    webhooks.execute("UPDATE tokens SET symbol = %s, decimals = 18", symbol)
    url, old = webhooks.settings.database_url, {"block_number": -1, "symbol": "OLD"}
    insert(url, "tokens", address=address("other token"), type="BEP20", **old)
    insert(url, "contract_creations", address=TOKEN, creator=TOKEN)
    listed = TOKEN if is_listed else bytes(20)
    insert(url, "listed_tokens", address=listed, list="L", name="X", symbol="USDX", decimals=18)
    webhooks.register(OWNER, receiver.url("/"), ("tx", "token_transfer"), format="slack")
    webhooks.chain.append([Move(SHOP, OWNER, value=10**20, tokens=10**20)])
    parts = [SummaryPart("Sent "), SummaryPart(f"100 {symbol or 'TOK'}", "token", to_hex(TOKEN))]
    with webhooks.delivering(summaries=lambda blocks: dict.fromkeys(blocks, parts)):
        [request] = receiver.wait_for(1)
    coin, token = request.event["text"].split("\n")
    name = said.format(QUOTED)
    assert "received 100 ETH from" in coin
    assert f"received 100 {name} from" in token
    assert token.count("received 100 ETH from") == 0


@pytest.mark.parametrize(
    ("amount", "symbol", "said"),
    [
        (0, "TOK", "; suspicious: it moves nothing, sent by another"),
        (5, "ETH", "; suspicious: its symbol is another token's, sent by another"),
        (5, "TOK", ""),
    ],
)
def test_a_suspicious_transfer_is_called_so(webhooks, receiver, amount, symbol, said):
    """Which its sender did not initiate: the shop sent the transaction."""
    webhooks.chain.append([Move(SHOP, SHOP, tokens=1)])
    webhooks.execute("UPDATE tokens SET symbol = %s", symbol)
    webhooks.register(OWNER, receiver.url("/"), ("token_transfer",), format="teams")
    webhooks.chain.append([Move(OWNER, SHOP, tokens=amount)])
    webhooks.execute("UPDATE transactions SET from_address = %s", SHOP)
    with webhooks.delivering():
        [request] = receiver.wait_for(1)
    [line] = lines_of("teams", request.event)
    assert line.partition(", block 1")[2] == said


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        ("1234567890123456789012", 18, "1,234.56789… T"),
        ("1", 18, "0.000000000000000001 T"),
        ("7", None, "7 smallest units of T"),
        (str(2**256 - 1), 0, "1.15e77 T"),
    ],
)
def test_amounts_are_cut_never_rounded_up(value, decimals, text):
    assert amount(value, Unit("T", decimals)) == text


def test_items_and_failures_have_their_words(webhooks, receiver):
    webhooks.register(OWNER, receiver.url("/"), format="discord")
    webhooks.chain.append(
        [Move(OWNER, SHOP, value=0, status=False), Move(OWNER, None, value=0, contract=TOKEN)]
    )
    with webhooks.delivering():
        [request] = receiver.wait_for(1)
    failed, created = request.event["content"].split("\n")
    assert "called" in failed
    assert "which failed" in failed
    assert "created" in created
    assert request.event["allowed_mentions"] == {"parse": []}
