"""ABIs and logs of enemies: names of SQL, offsets that share, lengths without end."""

import json
import re
from contextlib import closing
from fractions import Fraction
from random import Random

import psycopg2
import pytest
from eth_utils import keccak

from scan.contracts.abi_decoding import MAX_TYPES, index_abi
from scan.contracts.abi_json import MAX_REPLACED, event_text
from scan.ethereum import column_types
from scan.extensions.decoding.decoding import decode_log
from scan.extensions.events import exports
from scan.extensions.events.event_tables import RESERVED, Version, events_in, merged, view_forms
from scan.extensions.events.tests.random_events import Events
from tests.commands.test_command import scan
from tests.support.database import execute
from tests.support.indexing import Indexing

NAMES = ['"; DROP SCHEMA events; --', "", "é€", "block_number", "xmin", "E" * 300, "a b", "'", "\0"]
LOG = "SELECT event_arguments(%s, %s, %s::boolean[], %s, %s, %s)"


def argument(name, type_="uint256", indexed=False, **fields):
    return {"name": name, "type": type_, "indexed": indexed, **fields}


def event(name, *inputs, **fields):
    return {"type": "event", "name": name, "inputs": list(inputs), **fields}


def tables_of(*abi, stored=(), contract="vault", taken=()):
    return merged(bytes(20), contract, stored, [Version(0, abi)], taken)


def nested(depth):
    if not depth:
        return argument("timestamp", "bytes")
    return argument("x", "tuple[]", components=[nested(depth - 1), argument("y", "string")])


@pytest.mark.check
def test_names_of_strangers_are_names_of_sql():
    abi = [event(name, *(argument(one) for one in NAMES)) for name in NAMES]
    tables = tables_of(*abi)
    assert len({table.view for table in tables}) == len(NAMES)
    for table in tables:
        names = [name for name, _ in table.view_columns]
        assert len({*names}) == len(names)
        assert RESERVED.isdisjoint(names[:-1])
        assert all(re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", name) for name in (table.view, *names))


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
    """Of a uint256 a file has four columns, such as value_1."""
    [table] = tables_of(event("Paid", argument("value"), argument("value_1", "uint8")))
    types = exports.columns_of(table)
    assert (types["value"], types["value_1"]) == (column_types.TEXT, column_types.BIGINT)


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
def test_versions_of_a_contract_name_arguments_themselves():
    first = event("Moved", argument("owner"), argument("amount"))
    second = event("Moved", argument("amount"), argument("owner"))
    stored = merged(bytes(20), "vault", (), [Version(0, [first])], ())
    versions = [Version(0, [second]), Version(7, [second]), Version(9, [first])]
    # What was named before stays, but a version from a block on has names of its own.
    [table] = merged(bytes(20), "vault", stored, [versions[0]], ())
    assert [[c.argument for c in form.columns] for form in table.forms] == [["owner", "amount"]]
    [table] = merged(bytes(20), "vault", stored, [Version(0, [first]), *versions[1:]], ())
    assert [(form.first_block, form.columns[0].argument) for form in table.forms] == [
        *((0, "owner"), (7, "amount"), (9, "owner"))
    ]


@pytest.mark.check
def test_a_hostile_abi_is_read_up_to_its_bounds():
    many = [event(f"E{n}", *(argument(f"a{k}") for k in range(90))) for n in range(1000)]
    read = events_in(many)
    assert 90 * len(read.read) <= MAX_TYPES
    assert len(read.read) + read.left_out == 1000
    [deep] = tables_of(event("Deep", nested(8)))
    assert "timestamp" in view_forms(deep, [deep])
    huge = tables_of(event("Huge", argument("x", f"uint8[{10**70}]")), event("Wide", nested(40)))
    assert [table.event for table in huge] == ["Huge"]
    wide = event("Wide", *(argument(f"a{n}") for n in range(200)))
    assert tables_of(wide) == []


@pytest.fixture
def cursor(database_url):
    with closing(psycopg2.connect(database_url)) as connection, connection.cursor() as cursor:
        yield cursor


def read(cursor, abi, topics, data):
    """What SQL makes of a log, and what the API does."""
    [table] = tables_of(abi)
    [form] = json.loads(view_forms(table, [table]))
    rest = topics if abi["anonymous"] else topics[1:]
    types = (json.dumps(form["indexed"]), json.dumps(form["plain"]), form["order"])
    cursor.execute(LOG, (*types, abi["anonymous"], b"".join(rest), data))
    decoded = decode_log(topics, data, [index_abi([abi])])
    values = None if decoded is None else [argument.value for argument in decoded.arguments]
    return cursor.fetchone()[0], values


def altered(random, data):
    data = bytearray(data)
    for _ in range(random.choice([1, 1, 2])):
        offset = random.randrange(len(data)) if data else 0
        match random.randrange(4) if data else 2:
            case 0:
                data[offset] ^= 1 << random.randrange(8)
            case 1:
                del data[offset:]
            case 2:
                data += random.randbytes(32)
            case _:
                word = random.choice([2**255, 0, 32, 2**256 - 1, 2**31, 2**32]).to_bytes(32)
                data[offset // 32 * 32 : offset // 32 * 32 + 32] = word
    return bytes(data)


@pytest.mark.parametrize(
    ("events", "logs"), [(60, 6), pytest.param(1200, 10, marks=pytest.mark.thorough)]
)
def test_sql_and_the_api_say_the_same_of_damaged_logs(cursor, events, logs):
    random = Random(102)
    drawn = Events(random)
    for number in range(events):
        abi = drawn.event(number)
        for _ in range(logs):
            topics, data, _ = drawn.log(abi)
            by_sql, by_api = read(cursor, abi, topics, altered(random, data))
            assert by_sql == by_api, (abi, data.hex())


@pytest.mark.parametrize("number", [0, 1, -15, 10**10, 2**167 - 1, -(2**167)])
def test_decimals_of_vyper_are_numbers_with_ten_places(cursor, number):
    abi = event("Rated", argument("rate", "fixed168x10"), anonymous=False)
    data = number.to_bytes(32, signed=True)
    [decimal], [value] = read(cursor, abi, [keccak(text="Rated(fixed168x10)")], data)
    # Whatever the precision of decimals is that others have set in this process.
    assert Fraction(decimal) == Fraction(value) == Fraction(number, 10**10)


def test_shared_offsets_and_endless_lengths_cost_no_more_than_their_bounds(cursor):
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
    assert read(cursor, deep, [topic], shared) == (None, None)
    [table] = tables_of(flat)
    of_flat = [table.forms[0].topic0]
    assert read(cursor, flat, of_flat, endless) == (None, None)
    by_sql, by_api = read(cursor, flat, of_flat, many)
    assert by_sql == by_api == [["7"] * 90_000]
    note = event("Note", argument("x", "string"), anonymous=False)
    [table] = tables_of(note)
    text = bytes([0, 0xFF, 0xC3, 0x28, 0xE2, 0x82, 0xF0, 0x9F, 0x98, 0x80, 0x41, 0xED, 0xA0]) * 100
    data = word(32) + word(len(text)) + text + bytes(-len(text) % 32)
    by_sql, by_api = read(cursor, note, [table.forms[0].topic0], data)
    assert by_sql == by_api
    assert by_sql[0].startswith("\ufffd" * 3 + "(")


def test_texts_are_replaced_alike_and_up_to_a_bound(cursor):
    random = Random(7)
    texts = [b"", b"\0", b"a" * 300_000 + b"\0" + "é".encode() * 300_000, b"\xff" * 3_000_000]
    texts += [b"\xc3\x28" * 400, "\ufffd".encode() * 300, "\ufffd".encode() * 300 + b"\0"]
    pieces = ["é€𝄞\ufffd".encode(), b"\0", b"\xff", b"\xe2\x82", b"abc" * 40, b"\xf0\x9f\x98"]
    for _ in range(200):
        texts.append(b"".join(random.choices(pieces, k=random.randrange(1, 90))))
    for text in texts:
        cursor.execute("SELECT abi_text(%s)", [text])
        assert cursor.fetchone()[0] == event_text(text)
    with_nulls = [text for text in texts if b"\0" in text]
    assert with_nulls
    for text in with_nulls:
        assert event_text(text).count("\ufffd") <= MAX_REPLACED


def test_a_hostile_abi_is_followed_and_roles_read_its_views(database_url, anvil, tmp_path):
    abi = tmp_path / "abi.json"
    inputs = [argument(name, indexed=n < 2) for n, name in enumerate(NAMES)]
    wide = event("Wide", *(argument(f"a{n}") for n in range(200)))
    abi.write_text(
        json.dumps([*(event(name, *inputs) for name in NAMES), event("", nested(8)), wide])
    )
    with Indexing(database_url, anvil.url, until=anvil.head()):
        role = scan("sql-role", "reader_of_events", DATABASE_URL=database_url)
        [password] = re.findall(r"^password  (\w+)$", role.stdout, re.M)
        done = scan("events", "add", "0x" + "12" * 20, "--abi", str(abi), DATABASE_URL=database_url)
        assert done.returncode == 0, done.stderr
        assert "1 events of the ABI have no view" in done.stdout
        views = re.findall(r"^events\.(\w+)$", done.stdout, re.M)
        assert len(views) == len(NAMES) + 1
        as_role = psycopg2.connect(database_url, user="reader_of_events", password=password)
        with closing(as_role) as connection, connection.cursor() as cursor:
            for view in (*(f"events.{name}" for name in views), "v1.logs"):
                cursor.execute(f"SELECT count(*) FROM {view}")  # noqa: S608
                assert cursor.fetchall() == [(0,)]
            with pytest.raises(psycopg2.errors.InsufficientPrivilege):
                cursor.execute("SELECT * FROM followed_contracts")
    execute(database_url, "DROP OWNED BY reader_of_events; DROP ROLE reader_of_events")
