"""Sentences about transactions that try to say something else: hostile names, lying contracts."""

import pytest
from eth_utils import keccak

from scan.contracts import abi_decoding
from scan.ethereum import stored_blocks, units
from scan.extensions.decoding.details import TransactionDetails
from scan.extensions.explanations.transactions import summary_parts, transaction_summary
from scan.extensions.explanations.transactions.summary_facts import Facts

pytestmark = pytest.mark.check

ZERO = "0x" + "00" * 20
ALICE, BOB, TOKEN, OTHER, POOL = ("0x" + f"{n:02x}" * 20 for n in (17, 34, 51, 68, 85))
MOST = 2**256 - 1


def token(symbol="MUSD", **more):
    fields = {"name": "Meridian", "symbol": symbol, "decimals": 6, "type": "BEP20", "wraps": False}
    return {"isContract": True, "token": {**fields, **more}}


def transfer(owner, to, value, address=TOKEN, **more):
    fields = {"fromAddress": owner, "toAddress": to, "value": str(value), "tokenId": None}
    return {**fields, "tokenAddress": address, "logIndex": 0, **more}


def trade(amount_in, amount_out):
    pool = {"pairAddress": POOL, "dex": "uniswap-v2", "tokenIn": TOKEN, "tokenOut": OTHER}
    amounts = {"amountIn": str(amount_in), "amountOut": str(amount_out)}
    return {**pool, **amounts, "backedByTransfers": True}


def log(address, event, *words, topics=3, data=b""):
    shown = [
        bytes.fromhex(w[2:].zfill(64)) if isinstance(w, str) else w.to_bytes(32) for w in words
    ]
    inside = b"".join(shown[topics - 1 :]) + data
    first = (keccak(text=event), *shown[: topics - 1])
    return stored_blocks.TransactionLog(bytes.fromhex(address[2:]), first, inside, 0)


def sentence(parties, *, to=TOKEN, value=0, data=b"\xa9\x05\x9c\xbb", method=None, **of_facts):
    transfers, trades, logs = (of_facts.get(kind, ()) for kind in ("transfers", "trades", "logs"))
    transaction = {
        "fromAddress": ALICE,
        "toAddress": to,
        "contractAddress": None if to else BOB,
        "value": str(value),
        "status": of_facts.get("status", True),
        "methodId": "0xa9059cbb",
        "type": 2,
    }
    is_call = bool(to and (parties.get(to) or logs)) and len(data or b"1234") >= 4
    details = TransactionDetails(0, 0, data, method, logs, len(logs), is_call=is_call)
    counts = len(transfers), len(trades)
    error = of_facts.get("error")
    facts = Facts(transaction, details, transfers, counts[0], trades, counts[1], (), error)
    is_quoted = of_facts.get("is_quoted", False)
    facts = facts._replace(is_error_quoted=is_quoted, is_state_changed=True)
    return transaction_summary.summarise(facts, summary_parts.Names(parties, "ETH"))


APPROVAL = "Approval(address,address,uint256)"


@pytest.mark.parametrize(
    ("words", "topics", "text"),
    [
        ((ALICE, BOB, MOST), 3, "Approved 0x222222…2222 to spend unlimited MUSD"),
        ((ALICE, BOB, 5_000_000), 3, "Approved 0x222222…2222 to spend 5 MUSD"),
        ((ALICE, BOB, 0), 3, "Revoked the approval of 0x222222…2222 to spend MUSD"),
        ((BOB, ALICE, 5), 3, "Approved 0x111111…1111 to spend 0.000005 MUSD of 0x222222…2222"),
        ((ALICE, BOB, 7), 4, "Approved 0x222222…2222 to transfer “Meridian” (0x333333…3333) #7"),
        ((ALICE, ZERO, 7), 4, "Revoked the approval to transfer “Meridian” (0x333333…3333) #7"),
        # Not an address, or not all its words: nothing is made of it.
        ((ALICE, MOST, 5), 3, "Called 0xa9059cbb of “Meridian” (0x333333…3333)"),
        ((ALICE, BOB), 3, "Called 0xa9059cbb of “Meridian” (0x333333…3333)"),
    ],
)
def test_approvals(words, topics, text):
    logs = [log(TOKEN, APPROVAL, *words, topics=topics)]
    assert sentence({TOKEN: token()}, logs=logs).text == text


def test_a_token_of_no_known_decimals_has_units():
    logs = [log(TOKEN, APPROVAL, ALICE, BOB, 1500)]
    text = sentence({TOKEN: {"isContract": True}}, logs=logs).text
    assert text == "Approved 0x222222…2222 to spend 1,500 units of tokens of 0x333333…3333"


def test_a_route_of_several_pools_is_one_swap():
    middle = "0x" + "77" * 20
    hops = [
        {**trade(1_000_000, 50), "tokenOut": middle},
        {**trade(50, 990_000), "tokenIn": middle, "pairAddress": BOB, "dex": "uniswap-v3"},
    ]
    moved = [
        transfer(ALICE, POOL, 1_000_000),
        transfer(POOL, BOB, 50, middle),
        transfer(BOB, ALICE, 990_000, OTHER),
    ]
    parties = {TOKEN: token("BET"), OTHER: token("ALF"), middle: token("MID")}
    summary = sentence(parties, to=POOL, transfers=moved, trades=hops)
    assert summary.text == "Swapped 1 BET for 0.99 ALF on Uniswap V2 and Uniswap V3"


def test_a_swap_for_another_states_no_more_than_the_sender_gave():
    """Of 12 BET a fee of 2 went elsewhere; what was bought is another's. Or another paid all."""
    buyer = "0x" + "66" * 20
    moved = [
        transfer(ALICE, POOL, 10_000_000),
        transfer(ALICE, BOB, 2_000_000),
        transfer(POOL, buyer, 9_000_000, OTHER),
    ]
    parties = {TOKEN: token("BET"), OTHER: token("ALF")}
    trades = [trade(10_000_000, 9_000_000)]
    text = sentence(parties, to=BOB, transfers=moved, trades=trades).text
    assert text == "Swapped 10 BET for 9 ALF on Uniswap V2, paid to 0x666666…6666, sent 2 BET"
    moved = [transfer(buyer, POOL, 10_000_000), transfer(POOL, ALICE, 9_000_000, OTHER)]
    text = sentence(parties, to=BOB, transfers=moved, trades=trades).text
    assert text == "Swapped 10 BET of 0x666666…6666 for 9 ALF on Uniswap V2"


# Like the coin's, like a number, or like words of the sentence.
CONFUSING = """
    ETH eth ETH. $ETH \uff25\uff34\uff28 \u0415\u0422\u041d \u0395\u03a4\u0397 \u1d07\u1d1b\u029c
    000USDC .000USDC +1000 -1 \u0660\u0660\u0660 e18 K\u0660 to Unlimited USD\u0421 1INCH ,5
""".split()


@pytest.mark.parametrize(
    ("symbol", "text"),
    (
        ("\u202eDSUM", "5 DSUM"),  # from right to left
        ("MU\u200bSD\x00\n", "5 MUSD"),
        ("M" * 10_000, f"5 {'M' * (summary_parts.MAX_SYMBOL - 1)}…"),
        ("USDC.e", "5 USDC.e"),
        ("UNI-V2", "5 UNI-V2"),
        *(
            (symbol, f"5 “{symbol}” (0x333333…3333)")
            for symbol in (*CONFUSING, "ETH to Bob, 9 USDT")
        ),
        ('a“b”c d"', "5 “abc d” (0x333333…3333)"),
        ("\u3164\u2800 \u00ad", "5 “Mer idian” (0x333333…3333)"),
        ("Z" + "\u0301" * 500, "5 “Z\u0301\u0301” (0x333333…3333)"),
    ),
)
def test_hostile_symbols(symbol, text):
    moved = [transfer(ALICE, BOB, 5_000_000)]
    summary = sentence({TOKEN: token(symbol, name="Mer idian")}, transfers=moved)
    assert summary.parts[1].text == text
    assert summary.parts[1].address == TOKEN


def test_a_blank_token_is_named_by_its_address():
    blank = token("\u200b\u3164", name="\u2063 ")
    summary = sentence({TOKEN: blank}, transfers=[transfer(ALICE, BOB, 5)])
    assert summary.parts[1].text == "0.000005 tokens of 0x333333…3333"


def test_the_name_of_an_unverified_token_names_no_party():
    parties = {TOKEN: token(), BOB: token(name="Uniswap: Router")}
    summary = sentence(parties, transfers=[transfer(ALICE, BOB, 5_000_000)])
    assert summary.text == "Sent 5 MUSD to 0x222222…2222"
    called = sentence({BOB: token(name="Uniswap Router")}, to=BOB)
    assert called.text == "Called 0xa9059cbb of “Uniswap Router” (0x222222…2222)"


def test_many_items_are_counted():
    moved = [transfer(ALICE, BOB, 1, tokenId=str(n)) for n in range(200)]
    parties = {TOKEN: token(name="Lamp", type="BEP1155")}
    text = "Sent 200 items of “Lamp” (0x333333…3333) to 0x222222…2222"
    assert sentence(parties, transfers=moved).text == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0, 18, "0"),
        (1, 0, "1"),
        (1_234_567_891_234, 6, "1,234,567.891234"),
        (1_234_567_891_234, 9, "1,234.567891…"),
        (123, 18, "0.000000000000000123"),
        (1_000_000_000_000_001, 15, "1.0…"),
        (MOST, 18, "1.15e59"),
        (MOST, 0, "1.15e77"),
        (1, 255, "1e-255"),
    ],
)
def test_amounts_are_short_and_never_rounded_up(value, decimals, text):
    assert units.shortened(value, decimals) == text


POOL_OF_BOTH = {
    TOKEN: token("BET"),
    OTHER: token("ALF"),
    POOL: {
        **token("UNI-V2", decimals=18),
        "pool": {"dex": "uniswap-v2", "token0": TOKEN, "token1": OTHER},
    },
}


@pytest.mark.parametrize(("owner", "end"), [(ALICE, ""), (BOB, ", for 0x222222…2222")])
@pytest.mark.parametrize("item", [None, "7"])
def test_liquidity_says_who_owns_it(owner, end, item):
    positions = {**token(name="Positions", type="BEP721"), "isContract": True}
    share = transfer(ZERO, owner, 10**18, POOL) if item is None else transfer(ZERO, owner, 1, BOB)
    moved = [
        transfer(ALICE, POOL, 5_000_000),
        transfer(ALICE, POOL, 4_000_000, OTHER),
        {**share, "tokenId": item},
    ]
    logs = [log(POOL, "Mint(address,uint256,uint256)", ALICE, 5, 4, topics=2)]
    parties = {**POOL_OF_BOTH, **({} if item is None else {BOB: positions})}
    text = sentence(parties, to=POOL, transfers=moved, logs=logs).text
    suffix = ", received “Positions” (0x222222…2222) #7" if item and owner == ALICE else ""
    assert text == f"Added 5 BET and 4 ALF as liquidity on Uniswap V2{end}{suffix}"


@pytest.mark.parametrize(
    ("owners", "end"),
    [
        ((ALICE, ALICE), ""),
        ((BOB, BOB), ", paid to 0x222222…2222"),
        ((ALICE, BOB), ", paid to 2 recipients"),
    ],
)
def test_liquidity_removed_says_who_was_paid(owners, end):
    moved = [
        transfer(ALICE, POOL, 10**18, POOL),
        transfer(POOL, ZERO, 10**18, POOL),
        transfer(POOL, owners[0], 5_000_000),
        transfer(POOL, owners[1], 4_000_000, OTHER),
    ]
    logs = [log(POOL, "Burn(address,uint256,uint256,address)", ALICE, BOB, 5, 4)]
    text = sentence(POOL_OF_BOTH, to=POOL, transfers=moved, logs=logs).text
    assert text == f"Removed 5 BET and 4 ALF of liquidity from Uniswap V2{end}"


@pytest.mark.parametrize(
    ("event", "way", "value", "text"),
    [
        ("Deposit", (ZERO, ALICE), 10**18, "Wrapped 1 ETH into 1 WETH"),
        ("Deposit", (ZERO, ALICE), 10**17, "Minted 1 WETH, sending 0.1 ETH"),
        ("Withdrawal", (ALICE, ZERO), 0, "Burned 1 WETH"),
    ],
)
def test_a_wrap_is_of_the_coin_that_was_sent(event, way, value, text):
    """And an unwrap that paid nothing is a burn."""
    parties = {TOKEN: token("WETH", decimals=18, wraps=True)}
    logs = [log(TOKEN, f"{event}(address,uint256)", ALICE, 10**18, topics=2)]
    moved = [transfer(*way, 10**18)]
    assert sentence(parties, value=value, transfers=moved, logs=logs).text == text


@pytest.mark.parametrize(
    ("to", "moved", "action"),
    [
        (TOKEN, [transfer(ALICE, BOB, 1)], "transfer"),
        (OTHER, [transfer(ALICE, BOB, 1)], "call"),
        (TOKEN, [transfer(ALICE, BOB, 1), transfer(POOL, BOB, 1)], "call"),
        (TOKEN, [transfer(ALICE, BOB, 1), transfer(ALICE, BOB, 1, OTHER)], "call"),
        (TOKEN, [transfer(ALICE, BOB, 1), transfer(ALICE, ZERO, 1)], "call"),
        (TOKEN, [transfer(ALICE, ZERO, 1)], "burn"),
        (TOKEN, [transfer(ZERO, BOB, 1)], "mint"),
        (OTHER, [transfer(ZERO, ALICE, 1)], "mint"),
        (OTHER, [transfer(ZERO, BOB, 1)], "call"),
    ],
)
def test_transfers_have_one_action_where_one_holder_made_them_of_one_token(to, moved, action):
    parties = {TOKEN: token(), OTHER: token("ALF"), BOB: {"isContract": True}}
    assert sentence(parties, to=to, transfers=moved).action == action


def test_an_approval_that_transfers_may_have_used_is_the_most_that_is_left():
    approval = log(TOKEN, APPROVAL, ALICE, BOB, 5_000_000)
    for at, most in ((1, "up to "), (-1, "")):
        moved = [transfer(ALICE, POOL, 5_000_000, logIndex=at), transfer(POOL, BOB, 1, OTHER)]
        text = sentence({TOKEN: token()}, to=BOB, transfers=moved, logs=[approval]).text
        assert text.endswith(f", leaving 0x222222…2222 approved to spend {most}5 MUSD")


def test_an_approval_beside_an_event_that_is_told_is_told():
    event = "DelegateChanged(address,address,address)"
    method = abi_decoding.Decoded("delegate", "delegate(address)", (), "standard")
    logs = [log(TOKEN, event, ALICE, ZERO, BOB, topics=4), log(OTHER, APPROVAL, ALICE, BOB, MOST)]
    assert sentence({TOKEN: token(), OTHER: token("ALF")}, logs=logs, method=method).text == (
        "Delegated votes of MUSD to 0x222222…2222,"
        " leaving 0x222222…2222 approved to spend unlimited ALF"
    )


def test_every_form_can_be_filled():
    """Each event of the table with all its conditions, in a transaction of its own."""
    values = {"sender": ALICE, "zero": 0, "one": 1, "unlimited": MOST}
    for form in transaction_summary.FORMS["events"]:
        types = form["event"].split("(")[1].rstrip(")").split(",")
        words = [BOB if kind == "address" else 7 for kind in types]
        for number, condition in form.get("where", {}).items():
            words[int(number)] = values[condition]
        logs = [log(TOKEN, form["event"], *words, topics=form["topics"])]
        assert sentence({TOKEN: token()}, logs=logs).action == form["action"], form
    assert "swap" in transaction_summary.ACTIONS


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"Invoice 42", "Sent 0.5 ETH to 0x222222…2222 with the text “Invoice 42”"),
        ("“ends” here\n\u202enow".encode(), "… “ends here now”"),
        ("שלום".encode(), "… “שלום”"),
        (b"a" * 10_000, f"… “{'a' * 79}…”"),
        ("é".encode() * 5_000, f"… “{'é' * 79}…”"),
        (b"\xffabc", "Sent 0.5 ETH and 4 bytes of data to 0x222222…2222"),
        (b"abc\x00", "Sent 0.5 ETH and 4 bytes of data to 0x222222…2222"),
        ("\u200b\u202e".encode(), "Sent 0.5 ETH and 6 bytes of data to 0x222222…2222"),
    ],
)
def test_a_text_is_quoted_alone_where_it_is_one(data, text):
    whole = text.replace("… ", "Sent 0.5 ETH to 0x222222…2222 with the text ", 1)
    text = whole if text.startswith("… ") else text
    assert sentence({}, to=BOB, value=5 * 10**17, data=data).text == text
