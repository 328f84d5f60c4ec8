"""ABIs and logs of enemies: names of SQL, offsets that share, lengths without end."""

import json
import re
from contextlib import closing
from fractions import Fraction
from random import Random

import psycopg2
import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts.abi_decoding import MAX_TYPES, DecodingBudget, index_abi
from scan.ethereum import column_types
from scan.extensions.decoding.decoding import decode_log
from scan.extensions.events import event_decoding
from scan.extensions.events.event_tables import Version, columns_of, events_in, merged, view_forms
from scan.extensions.events.tests.coffers import following
from scan.extensions.events.tests.random_events import Events, damaged
from tests.support.database import execute, insert
from tests.support.indexing import Indexing
from tests.support.scan_command import scan

MOVED = (("a", "address"), ("b", "address"), ("c", "uint256"))


def argument(name, type_="uint256", indexed=False, **fields):
    return {"name": name, "type": type_, "indexed": indexed, **fields}


def event(name, *inputs, **fields):
    return {"type": "event", "name": name, "inputs": list(inputs), **fields}


def tables_of(*abi, stored=(), taken=()):
    return merged(bytes(20), "vault", stored, [Version(0, abi)], taken)


def nested(depth):
    if not depth:
        return argument("timestamp", "bytes")
    return argument("x", "tuple[]", components=[nested(depth - 1), argument("y", "string")])


@pytest.mark.check
def test_overloads_unnamed_arguments_and_taken_names_are_numbered():
    first, second = tables_of(
        event("Deposit", argument(""), argument("timestamp"), argument("memo", "string", True)),
        event("Deposit", argument("tokenId"), argument("owner", "address", True)),
    )
    assert [first.view, second.view] == ["vault_deposit", "vault_deposit_2"]
    assert [c.name for c in first.columns] == ["argument_1", "timestamp_2", "memo_hash"]
    assert [name for name, _ in second.view_columns] == [
        *("token_id", "owner", "owner_bytes", "is_malformed")
    ]
    [other] = tables_of(event("Deposit"), taken={"vault_deposit", "vault_deposit_2"})
    assert other.view == "vault_deposit_3"


@pytest.mark.check
def test_no_two_columns_of_a_file_have_one_name():
    """Of a uint256 a file has several columns, such as value_1 or value_string."""
    for taken in ("value_1", "value_string"):
        [table] = tables_of(event("Paid", argument("value"), argument(taken, "uint8")))
        types = columns_of(table)
        assert (types["value"], types[taken]) == (column_types.TEXT, column_types.BIGINT)


@pytest.mark.check
def test_what_is_named_stays_so():
    before = tables_of(event("Deposit", argument("")))
    after = tables_of(
        event("Deposit", argument("owner", "address")),
        event("Deposit", argument("amount")),
        stored=before,
    )
    assert after[0] == before[0]
    assert [table.view for table in after] == ["vault_deposit", "vault_deposit_2"]


@pytest.mark.check
def test_long_names_are_told_apart():
    names = [f"ReserveUsedAsCollateral{what}" for what in ("Enabled", "Disabled")]
    assert [table.name for table in tables_of(*map(event, names))] == [
        *("reserve_used_as_collateral_enabled", "reserve_used_as_collateral_disabled")
    ]


@pytest.mark.check
def test_a_hostile_abi_is_read_up_to_its_bounds():
    many = [event(f"E{n}", *(argument(f"a{k}") for k in range(90))) for n in range(1000)]
    read = events_in(many)
    assert 90 * len(read.read) <= MAX_TYPES
    assert len(read.read) + read.left_out == 1000
    [deep] = tables_of(event("Deep", nested(8)))
    assert "timestamp" in view_forms(deep)
    huge = tables_of(event("Huge", argument("x", f"uint8[{10**70}]")), event("Wide", nested(40)))
    assert [table.event for table in huge] == ["Huge"]
    wide = event("Wide", *(argument(f"a{n}") for n in range(200)))
    assert tables_of(wide) == []


def decoded(abi, topics, data):
    """A log as the views of an ABI's events have it; None where it is in none."""
    texts = map(view_forms, tables_of(*abi))
    forms = [form for text in texts for form in event_decoding.read_forms(1, text)]
    log = event_decoding.QueuedLog(0, "", 0, 0, bytes(20), topics, data)
    return event_decoding.decode(log, forms)


def read(abi, topics, data):
    """What views make of a log, and what the API does."""
    of_views, of_api = decoded([abi], topics, data), decode_log(topics, data, [index_abi([abi])])
    values = None if of_api is None else [argument.value for argument in of_api.arguments]
    return None if of_views is None else of_views.args, values


@pytest.mark.parametrize(
    ("events", "logs"), [(60, 6), pytest.param(1200, 10, marks=pytest.mark.thorough)]
)
def test_views_and_the_api_say_the_same_of_damaged_logs(events, logs):
    random = Random(102)
    drawn = Events(random)
    for number in range(events):
        abi = drawn.event(number)
        for _ in range(logs):
            topics, data, _ = drawn.log(abi)
            for _ in range(random.choice([1, 1, 2])):
                data = damaged(random, data)
            of_views, of_api = read(abi, topics, data)
            assert of_views == of_api, (abi, data.hex())


@pytest.mark.parametrize("number", [0, 1, -15, 10**10, 2**167 - 1, -(2**167)])
def test_decimals_of_vyper_are_numbers_with_ten_places(number):
    abi = event("Rated", argument("rate", "fixed168x10"), anonymous=False)
    data = number.to_bytes(32, signed=True)
    [decimal], [value] = read(abi, [keccak(text="Rated(fixed168x10)")], data)
    # Whatever the precision of decimals is that others have set in this process.
    assert Fraction(decimal) == Fraction(value) == Fraction(number, 10**10)


def test_shared_offsets_and_endless_lengths_cost_no_more_than_their_bounds():
    def word(number):
        return number.to_bytes(32)

    deep = event("Deep", argument("x", "uint256" + "[]" * 7), anonymous=False)
    [table] = tables_of(deep)
    topic = table.forms[0].topic0
    shared = word(32) + b"".join(word(60) + word(32 * 60) * 60 for _ in range(6))
    shared += word(60) + word(1) * 60  # 60^7 values
    flat = event("Flat", argument("x", "uint256[]"), anonymous=False)
    endless = word(32) + word(2**255)
    many = word(32) + word(90_000) + word(7) * 90_000
    assert read(deep, [topic], shared) == (None, None)
    [table] = tables_of(flat)
    of_flat = [table.forms[0].topic0]
    assert read(flat, of_flat, endless) == (None, None)
    of_views, of_api = read(flat, of_flat, many)
    assert of_views == of_api == [["7"] * 90_000]


TOPIC = keccak(text="Moved(address,address,uint256)")
FROM, TO, LARGE = (number.to_bytes(32) for number in (1, 2, 2**200))
OF_FROM = event("Moved", *(argument(n, t, n == "a") for n, t in MOVED))
OF_BOTH = event("Moved", *(argument(n, t, n != "c") for n, t in MOVED))
SHOWN = {word: f"0x{word[12:].hex()}" for word in (FROM, TO)}


@pytest.mark.check
@pytest.mark.parametrize("abi", [(OF_FROM, OF_BOTH), (OF_BOTH, OF_FROM)])
def test_a_log_is_of_the_declaration_with_its_number_of_topics(abi):
    for topics, data in (([TOPIC, FROM], TO + LARGE), ([TOPIC, FROM, TO], LARGE)):
        of_log = decoded(abi, topics, data)
        assert of_log.args == [SHOWN[FROM], SHOWN[TO], str(2**200)]
        assert of_log.keys == [topic[12:] for topic in topics[1:]]
    for topics in ([TOPIC], [TOPIC, FROM, TO, LARGE]):
        of_none = decoded(abi, topics, FROM + TO + LARGE)
        assert (of_none.form.entry.name, of_none.args) == ("Moved", None)


def add_logs(url, topic, *datas):
    """Logs of the contract that is followed, in block 0."""
    for index, data in enumerate(datas):
        keys = {"ordinal": index, "log_index": index, "address": bytes(20)}
        insert(url, "contract_events", **keys, topic0=topic, data=data)


@pytest.fixture
def followed(database_url, anvil):
    """What is followed in a database with blocks: a contract with an event of a text and others."""
    note = event("Note", argument("select", "string"), argument("", "string[]"), argument("n"))
    pair = argument("p", "tuple", components=[argument("a", "string"), argument("b", "string")])
    note["inputs"].append(pair)
    with Indexing(database_url, anvil.url, until=anvil.head()):
        connection, followed = following(database_url)
        with connection:
            followed.add(bytes(20), "vault", json.dumps([note]))
            followed.make_views()
            yield followed


NOTE = ["string", "string[]", "uint256", "(string,string)"]
NOTE_TOPIC = keccak(text=f"Note({','.join(NOTE)})")


def test_a_zero_in_a_text_is_replaced_in_sql_alone(database_url, followed):
    texts = ["a\0b", '\\u0000"{,}', "\ufffd\t\x1f€", ""]
    values = [texts[0], texts[1:], 2**256 - 1, (texts[0], '"')]
    add_logs(database_url, NOTE_TOPIC, encode(NOTE, values))
    assert followed.decode() == 1
    [row] = execute(database_url, 'SELECT "select", argument_2, n, p FROM events.vault_note')
    assert row == ("a\ufffdb", texts[1:], 2**256 - 1, {"a": "a\ufffdb", "b": '"'})
    [(sent,)] = execute(database_url, "SELECT followed_event(0, 0, false)::text")
    shown = {"a": texts[0], "b": '"'}
    of_event = {"select": texts[0], "argument_2": texts[1:], "n": str(2**256 - 1), "p": shown}
    assert json.loads(sent)["args"] == of_event


def test_what_a_log_may_be_is_sent_with_it(database_url, followed):
    of_to = event("Moved", *(argument(n, t, n == "b") for n, t in MOVED))
    followed.add(bytes(20), "vault", json.dumps([OF_FROM, of_to]))
    followed.make_views()
    add_logs(database_url, TOPIC, TO + LARGE)
    execute(database_url, "UPDATE contract_events SET topic1 = %s", FROM)
    assert followed.decode() == 1
    [(sent,)] = execute(database_url, "SELECT followed_event(0, 0, false)::text")
    first, second, large = SHOWN[FROM], SHOWN[TO], str(2**200)
    assert json.loads(sent)["args"] == {"a": None, "b": None, "c": large}
    assert sorted(json.loads(sent)["alternatives"], key=str) == [
        {"a": first, "b": second, "c": large},
        {"a": second, "b": first, "c": large},
    ]
    [(cut,)] = execute(database_url, "SELECT followed_event(0, 0, true)::text")
    assert [*json.loads(cut)] == ["name", "signature", "args"]


def test_more_logs_than_a_budget_allows_are_decoded_beside(database, database_url, followed):
    """Those that are the newest first, and each of them, however large it is."""
    data = encode(NOTE, ["a" * 100_000, [], 1, ("", "")])
    add_logs(database_url, NOTE_TOPIC, *[data] * 3)
    execute(database_url, "UPDATE followed_contracts SET complete_from = 0")
    numbers = "SELECT log_index FROM events.vault_note ORDER BY log_index"
    pending = "SELECT events_complete_from(c) FROM followed_contracts c"
    for left in ([2], [1, 2]):
        rows = event_decoding.decoded(database, budget=DecodingBudget(len(data) // 32))
        with database.transaction() as tx:
            event_decoding.store(tx, rows)
        assert execute(database_url, numbers) == [(number,) for number in left]
        assert execute(database_url, pending) == [(1,)]
    assert [followed.decode(), followed.decode()] == [1, 0]
    assert execute(database_url, numbers) == [(0,), (1,), (2,)]
    assert execute(database_url, pending) == [(0,)]


def test_a_log_that_a_fork_replaces_while_it_is_decoded_is_decoded_again(
    database, database_url, followed
):
    first, second = (encode(NOTE, ["", [], number, ("", "")]) for number in (1, 2))
    add_logs(database_url, NOTE_TOPIC, first)
    rows = event_decoding.decoded(database)
    execute(database_url, "DELETE FROM contract_events")
    add_logs(database_url, NOTE_TOPIC, second)
    with database.transaction() as tx:
        event_decoding.store(tx, rows)
    assert execute(database_url, "SELECT n FROM events.vault_note") == []
    assert followed.decode() == 1
    assert execute(database_url, "SELECT n FROM events.vault_note") == [(2,)]
    execute(database_url, "DELETE FROM contract_events")
    left = "SELECT (SELECT count(*) FROM decoded_events) + (SELECT count(*) FROM undecoded_events)"
    assert execute(database_url, left) == [(0,)]


def test_a_hostile_abi_is_followed_and_roles_read_its_views(database_url, anvil, tmp_path):
    abi = tmp_path / "abi.json"
    names = [
        '"; DROP SCHEMA events; --',
        "",
        "é€",
        "block_number",
        "xmin",
        "E" * 300,
        "a b",
        "'",
        "\0",
    ]
    inputs = [argument(name, indexed=n < 2) for n, name in enumerate(names)]
    wide = event("Wide", *(argument(f"a{n}") for n in range(200)))
    abi.write_text(
        json.dumps([*(event(name, *inputs) for name in names), event("", nested(8)), wide])
    )
    with Indexing(database_url, anvil.url, until=anvil.head()):
        role = scan("sql-role", "reader_of_events", DATABASE_URL=database_url)
        [password] = re.findall(r"^password  (\w+)$", role.stdout, re.M)
        done = scan("events", "add", "0x" + "12" * 20, "--abi", str(abi), DATABASE_URL=database_url)
        assert done.returncode == 0, done.stderr
        assert "events of the ABI without a view: 1;" in done.stdout
        views = re.findall(r"^events\.(\w+)$", done.stdout, re.M)
        assert len(views) == len(names) + 1
        as_role = psycopg2.connect(database_url, user="reader_of_events", password=password)
        with closing(as_role) as connection, connection.cursor() as cursor:
            for view in (*(f"events.{name}" for name in views), "v1.logs"):
                cursor.execute(f"SELECT count(*) FROM {view}")  # noqa: S608
                assert cursor.fetchall() == [(0,)]
            with pytest.raises(psycopg2.errors.InsufficientPrivilege):
                cursor.execute("SELECT * FROM followed_contracts")
    execute(database_url, "DROP OWNED BY reader_of_events; DROP ROLE reader_of_events")
