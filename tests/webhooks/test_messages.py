"""Events as messages for people: their sentences, what strangers put into them, their pace."""

import html
import re

import pytest

from scan.hex import to_hex
from scan.webhooks.messages import FORMATS, Unit, amount, plain, plain_summary
from tests.support.made_blocks import TOKEN, Move, address
from tests.support.receiver import Answer
from tests.support.serving import wait_until
from tests.support.webhooks import QUICK
from tests.webhooks.test_limits import CLIENT, create

OWNER, SHOP = address("owner"), address("shop")
PAGES = "https://scan.example.org"


def lines_of(form, body):
    if form == "teams":
        [attachment] = body["attachments"]
        [block] = attachment["content"]["body"]
        return block["text"].split("\n\n")
    return {
        "slack": body.get("text"),
        "discord": body.get("content"),
        "telegram": body.get("text"),
    }[form].split("\n")


@pytest.mark.parametrize("form", FORMATS)
def test_events_are_sent_as_messages_each_once_and_several_joined(webhooks, receiver, form):
    webhooks.execute("UPDATE tokens SET symbol = 'TOK'")
    webhooks.chain.append([Move(SHOP, SHOP, tokens=1)])
    webhooks.execute("UPDATE tokens SET symbol = 'TOK', decimals = 2")
    webhooks.register(OWNER, receiver.url("/?chat_id=-7"), ("tx", "token_transfer"), format=form)
    hashes = webhooks.chain.append([Move(SHOP, OWNER, value=10**18, tokens=n) for n in range(7)])
    with webhooks.delivering(public_url=PAGES):
        receiver.wait_for(2)
        wait_until(lambda: not webhooks.pending())
    bodies = [request.event for request in receiver.received]
    lines = [line for body in bodies for line in lines_of(form, body)]
    assert len(bodies) == 2
    assert len(lines) == 14
    for n, hash_ in enumerate(hashes):
        coin, token = lines[2 * n], lines[2 * n + 1]
        assert "received 1 ETH from" in coin
        assert f"received {f'0.0{n}' if n else '0'} TOK from" in token
        assert f"{PAGES}/tx/{to_hex(hash_)}" in coin
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
    "\x1b[31m", "tg://resolve?domain=x", "#channel", ":smile:", "www.evil.example", "a" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_strangers_chose_is_no_markup(name):
    text = plain(name)
    assert len(text) <= 24
    assert not re.search(r"[^\w$+\-. ]|_|\.\w\w", text)
    assert html.escape(text) == text
    assert plain("USDC.e") == "USDC.e"


@pytest.mark.parametrize(
    "name", [*HOSTILE[:-1], "1.2.3.4", "x#tag", "#5evil", "a\u3002com", "1.5.evil"]
)
def test_a_sentence_about_a_transaction_keeps_its_amounts_and_has_no_markup(name):
    text = plain_summary(f"Sent 1,234.56 “{name}” to Box #12…78, and 0.25 more")
    assert text.startswith("Sent 1,234.56 “")
    assert text.endswith("” to Box #12…78, and 0.25 more")
    assert not re.search(r"[^\w$+\-. ,()“”…#]|_", text)
    chosen = text.partition("“")[2].partition("”")[0]
    assert not re.search(r"\.\w\w|#", chosen.removesuffix("3.4"))
    assert html.escape(text) == text
    assert plain_summary("Sent " + "word " * 100) == f"Sent {'word ' * 58}word…"


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        ("1500000", 6, "1.5 T"),
        ("1234567890123456789012", 18, "1,234.567890 T".replace("890 T", "89 T")),
        ("1", 18, "less than 0.000001 T"),
        ("0", 18, "0 T"),
        ("7", 0, "7 T"),
        ("7", None, "7 smallest units of T"),
        (str(2**256 - 1), 0, "11579208…29639935 T"),
    ],
)
def test_amounts_are_cut_never_rounded_up(value, decimals, text):
    assert amount(value, Unit("T", decimals)) == text


def test_an_unknown_format_is_refused_and_a_record_has_it(webhooks):
    assert create(webhooks, to_hex(OWNER), CLIENT, format="irc")[1]["field"] == "format"
    hook = webhooks.register(OWNER, "https://localhost:9/", format="teams")
    assert webhooks.record(OWNER, hook)["format"] == "teams"


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


def test_a_refusal_counts_whatever_becomes_of_its_body(webhooks, receiver):
    def break_off(handler, _):
        handler.wfile.write(b"HTTP/1.1 429 Slow down\r\nContent-Length: 900\r\n\r\n{")

    receiver.behaviour = break_off
    hook = webhooks.register(OWNER, receiver.url("/"))
    webhooks.chain.append([Move(OWNER, SHOP)])
    with webhooks.delivering(QUICK._replace(retry_steps_s=(3600.0,))):
        wait_until(lambda: webhooks.deliveries(hook)[0]["attempts"] == 1)
    [delivery] = webhooks.deliveries(hook)
    assert (delivery["responseCode"], delivery["error"]) == (429, None)
