"""What a contract answers is of a block: it is read again when something speaks for a change, in
whatever way the blocks are indexed."""

from collections import namedtuple

import pytest

from scan.commands import main
from scan.ethereum.token_metadata import balance_of
from scan.extensions.backfill.tests.backfilling import backfill, follow
from tests.support import auditing
from tests.support.anvil import Contract
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, altering
from tests.support.indexing import Indexing, settings_for
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
DAY_S = 86_400


class Coins(namedtuple("Coins", "anvil upgraded narrow labelled")):
    """Proxies of tokens, and what they may stand before; `labelled` is read after its first event,
    and once more."""

    def label(self, coin, name):
        self.do(coin, "label", name, name.upper())

    def do(self, contract, function, *args, **fields):
        receipt = self.anvil.receipt_of(
            self.anvil.transact(self.anvil.accounts[0], contract, function, *args, **fields)
        )
        assert receipt["status"] == "0x1", function


def proxy_of(anvil, implementation):
    proxy = anvil.deploy(anvil.accounts[0], "Replaceable", implementation.address)
    return Contract(proxy.address, implementation.artifact)


@pytest.fixture
def coins(anvil):
    me = anvil.accounts[0]
    wide, narrow = (anvil.deploy(me, name) for name in ("WideCoin", "NarrowCoin"))
    coins = Coins(anvil, proxy_of(anvil, wide), narrow, proxy_of(anvil, wide))
    coins.label(coins.upgraded, "six")
    coins.do(coins.upgraded, "mint", me, 1_000_000)
    coins.do(coins.labelled, "mint", me, 10)
    return coins


def upgrade(coins):
    anvil = coins.anvil
    artifact = anvil.deploy(anvil.accounts[0], "Replaceable", coins.narrow.address).artifact
    coins.do(Contract(coins.upgraded.address, artifact), "replace", coins.narrow.address)


def move(coins, coin, value=1):
    coins.do(coin, "transfer", coins.anvil.accounts[1], value)


def begin_day(anvil):
    """The next block is of the next day."""
    newest = anvil.call("eth_getBlockByNumber", "latest", False)
    anvil.call("evm_setNextBlockTimestamp", int(newest["timestamp"], 16) + DAY_S)


def next_day(anvil):
    begin_day(anvil)
    anvil.mine()


def token(client, contract):
    return dict(client.get(f"/api/v1/tokens/{contract.address}").get_json())


def is_everywhere(client, contract, name, decimals):
    """The record, its page, search and the compatible form all have the name and decimals."""
    record = token(client, contract)
    assert (record["name"], record["symbol"], record["decimals"]) == (name, name.upper(), decimals)
    assert name.upper() in client.get(f"/token/{contract.address}").text
    assert contract.address in client.get(f"/api/v1/search?q={name.upper()}").text
    info = f"/api?module=token&action=tokeninfo&contractaddress={contract.address}"
    [result] = client.get(info).get_json()["result"]
    assert (result["symbol"], result["divisor"]) == (name.upper(), str(decimals))


def transfers(client, contract):
    records = client.get(f"/api/v1/tokens/{contract.address}/transfers").get_json()["transfers"]
    return [(record["value"], record["tokenDecimals"]) for record in records]


def is_the_same_in_whatever_way(postgres, template, anvil, url, folder, **settings):
    """The followed index equals a fresh one, one in bulk, and the audit's expectation."""
    fresh = fresh_digest(postgres, template, anvil, **settings)
    assert digest(url) == fresh
    assert auditing.run(settings_for(url, anvil.url, **settings)) == auditing.EXACT
    with postgres.cloned(template) as bulk:
        loaded = settings_for(bulk, anvil.url, **settings)
        assert backfill(loaded, folder / "files", last_block=anvil.head() - 2)
        follow(loaded, anvil.head())
        assert digest(bulk) == fresh
        assert auditing.run(loaded) == auditing.EXACT


def test_an_upgrade_changes_decimals_from_its_block_on(
    coins, database_url, postgres, template, tmp_path
):
    anvil = coins.anvil
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        is_everywhere(client, coins.upgraded, "six", 18)
        upgrade(coins)
        move(coins, coins.upgraded, 500_000)
        indexing.wait_for(anvil.head())
        is_everywhere(client, coins.upgraded, "six", 6)
        assert transfers(client, coins.upgraded) == [("500000", 6), ("1000000", 18)]
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)


def test_an_upgrade_that_a_fork_takes_back_is_read_back(coins, database_url, postgres, template):
    anvil = coins.anvil
    upgrade(coins)
    move(coins, coins.upgraded, 500_000)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        is_everywhere(client, coins.upgraded, "six", 6)
        anvil.reorganise(3)
        coins.anvil.mine(2)
        indexing.wait_for(anvil.head())
        is_everywhere(client, coins.upgraded, "six", 18)
        assert transfers(client, coins.upgraded) == [("1000000", 18)]
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_a_late_name_and_a_new_one_are_read_at_events_and_once_a_day(
    coins, database_url, postgres, template, tmp_path
):
    anvil = coins.anvil
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()
        assert token(client, coins.labelled)["name"] == ""
        coins.label(coins.labelled, "late")
        move(coins, coins.labelled)
        indexing.wait_for(anvil.head())
        is_everywhere(client, coins.labelled, "late", 18)
        coins.label(coins.labelled, "anew")
        next_day(anvil)
        move(coins, coins.labelled)
        indexing.wait_for(anvil.head())
        is_everywhere(client, coins.labelled, "anew", 18)
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)


def rename_directly(coins, named, _):
    coins.label(named, "anew")


def rename_through_another(coins, named, renamer):
    coins.do(renamer, "rename", named.address, "anew", "ANEW")


@pytest.mark.parametrize("contract", ["WideCoin", "NamedCoin"])
@pytest.mark.parametrize("rename", [rename_directly, rename_through_another])
def test_a_token_in_use_is_named_anew_in_the_block_of_the_call(
    anvil, database_url, postgres, template, tmp_path, contract, rename
):
    me = anvil.accounts[0]
    named, renamer = anvil.deploy(me, contract), anvil.deploy(me, "Renamer")
    coins = Coins(anvil, None, None, named)
    coins.label(named, "old")
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        for _ in range(11):  # later than 8 blocks after its first event
            coins.do(named, "mint", me, 1)
        indexing.wait_for(anvil.head())
        rename(coins, named, renamer)
        indexing.wait_for(anvil.head())
        is_everywhere(indexing.client(), named, "anew", 18)
        coins.do(named, "transfer", anvil.accounts[1], 1)
        indexing.wait_for(anvil.head())
        is_everywhere(indexing.client(), named, "anew", 18)
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert auditing.run(indexing.settings, node=True) == auditing.EXACT
        anvil.reorganise(2)
        anvil.mine(2)
        indexing.wait_for(anvil.head())
        is_everywhere(indexing.client(), named, "old", 18)
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_labels_are_of_the_same_block_however_often_the_index_reads(
    coins, database_url, postgres, template, tmp_path
):
    anvil = coins.anvil
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:

        def name_and_move(*names):
            for name in names:
                coins.label(coins.labelled, name)
                indexing.wait_for(anvil.head())
                move(coins, coins.labelled)
                indexing.wait_for(anvil.head())

        name_and_move(*(f"first day {n}" for n in range(6)))
        begin_day(anvil)
        name_and_move("second day", "same day")
        begin_day(anvil)
        coins.label(coins.labelled, "silent")  # without an event
        indexing.wait_for(anvil.head())
        next_day(anvil)
        indexing.wait_for(anvil.head())
        is_everywhere(indexing.client(), coins.labelled, "silent", 18)
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        name_and_move("fourth day", "same day")
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert auditing.run(indexing.settings, node=True) == auditing.EXACT
        anvil.reorganise(2)
        anvil.mine()
        indexing.wait_for(anvil.head())
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_a_token_is_read_whole_once_a_day_at_most(coins, database_url):
    anvil = coins.anvil
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        read_blocks = set()
        for _ in range(20):
            move(coins, coins.upgraded)
            indexing.wait_for(anvil.head())
            read_blocks.update(execute(database_url, "SELECT read_block, address FROM tokens"))
        assert len(read_blocks) <= 2 + 2  # two tokens, of which one was read 1 and 8 blocks after


def test_a_refused_contract_is_tried_again_at_later_events(
    coins, database_url, postgres, template, tmp_path
):
    anvil, me = coins.anvil, coins.anvil.accounts[0]
    wrapper = anvil.deploy(me, "LateWrapper")
    pair = anvil.deploy(me, "LatePair", coins.upgraded.address, coins.labelled.address)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        client = indexing.client()

        def emit(times=1):
            for _ in range(times):
                coins.do(wrapper, "deposit", value=5)
                coins.do(pair, "swap", 7)
                indexing.wait_for(anvil.head())

        emit(4)
        assert client.get(f"/api/v1/tokens/{wrapper.address}").status_code == 404
        coins.do(wrapper, "wake")
        coins.do(pair, "wake")
        emit(20)
        assert token(client, wrapper)["symbol"] == "LATE"
        assert transfers(client, wrapper)[0] == ("5", 18)
        assert execute(database_url, "SELECT count(*) FROM dex_trades")[0][0] > 5
        tries = execute(
            database_url, "SELECT claim, count(*) FROM rejected_emitters GROUP BY claim ORDER BY 1"
        )
        assert all(count <= 3 for _, count in tries) and len(tries) == 2
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)


def test_what_changed_without_a_sign_is_noticed_by_the_audit_and_read_again(
    anvil, database_url, monkeypatch, capsys
):
    me = anvil.accounts[0]
    named = anvil.deploy(me, "WideCoin")
    for call in ("label", "Old", "OLD"), ("mint", me, 5):
        anvil.receipt_of(anvil.transact(me, named, *call))
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        token = indexing.client().get(f"/api/v1/tokens/{named.address}").json
        assert token["readBlock"] == anvil.head()
        execute(database_url, "UPDATE tokens SET name = 'Other', decimals = 7")
        assert auditing.run(indexing.settings, node=True) == auditing.DIFFERS
        assert "name is Other, the node has Old; decimals is 7" in capsys.readouterr().out
        monkeypatch.setenv("DATABASE_URL", database_url)
        assert main(["tokens", "refresh", named.address]) == auditing.EXACT
        indexing.wait_for(anvil.head())
        assert auditing.run(indexing.settings, node=True) == auditing.EXACT
        assert main(["tokens", "refresh", me]) == auditing.DIFFERS


def test_one_false_balance_marks_no_token(anvil, database_url, monkeypatch):
    one, two = anvil.accounts[:2]
    coin = anvil.deploy(one, "SilentCoin", 1000, True, False)
    of_two, false = balance_of(bytes.fromhex(two[2:])), []

    def alter(call, answer):
        if call["method"] == "eth_call" and call["params"][0]["data"] == of_two and false:
            answer["result"] = f"0x{false.pop():064x}"

    def is_marked():
        indexing.look()
        indexing.wait_for(anvil.head())
        [(since,)] = execute(database_url, "SELECT inconsistent_since FROM tokens")
        return since is not None

    with (
        FaultyNode(anvil.url) as node,
        Indexing(database_url, node.url, until=anvil.head()) as indexing,
    ):
        node.fault = altering(alter)
        for answers, expected in ([12345], (False, [])), ([12345] * 9, (True, [12345] * 6)):
            false += answers
            anvil.receipt_of(anvil.transact(one, coin, "transfer", two, 100))
            assert (is_marked(), false) == expected
        false.clear()
        monkeypatch.setenv("DATABASE_URL", database_url)
        assert main(["tokens", "refresh", coin.address]) == auditing.EXACT
        assert not is_marked()
