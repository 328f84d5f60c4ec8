"""A contract ends, and another is created at its address: every form shows what stands there now,
in whatever way the blocks are indexed."""

from collections import namedtuple
from contextlib import closing

import pytest

from app import create_app
from scan.commands import audit
from scan.database.connection import Database
from scan.hex import data
from tests.extensions.test_contract_changes import is_the_same_in_whatever_way
from tests.support import auditing, authorizations, database, faulty_node, serving, solidity
from tests.support.anvil import ZERO, Anvil, Contract, creation_code
from tests.support.indexing import Indexing, index_apart
from tests.support.table_digest import digest, fresh_digest

pytestmark = pytest.mark.thorough
EVM = "shanghai"  # the last one in which SELFDESTRUCT ends a contract
EMPTY = bytes(2)


class Mortals(namedtuple("Mortals", "anvil cradle address")):
    """Contracts at one address, each after the end of the one before."""

    def bear(self, name):
        made = solidity.artifact(name, EVM)
        self.do(self.cradle, "bear", made.runtime)
        return Contract(self.address, made)

    def live_for_a_block(self, name, *amounts):
        """Let a contract begin, mint amounts to the second account, and end in one block."""
        made = solidity.artifact(name, EVM)
        mortal = Contract(self.address, made)
        sent = [
            self.anvil.transact(self.anvil.accounts[0], contract, *call, gas=4_000_000)
            for contract, *call in (
                (self.cradle, "bear", made.runtime),
                *((mortal, "mint", self.anvil.accounts[1], amount) for amount in amounts),
                (mortal, "end"),
            )
        ]
        assert {self.anvil.receipt_of(hash_)["status"] for hash_ in sent} == {"0x1"}

    def do(self, contract, function, *args):
        anvil = self.anvil
        sent = anvil.transact(anvil.accounts[0], contract, function, *args, gas=8_000_000)
        assert anvil.receipt_of(sent)["status"] == "0x1", function
        return sent


@pytest.fixture
def mortals():
    with Anvil(hardfork=EVM) as anvil:
        made = solidity.artifact("Cradle", EVM)
        sent = anvil.send(anvil.accounts[0], None, data=creation_code(made), gas=8_000_000)
        cradle = Contract(anvil.receipt_of(sent)["contractAddress"], made)
        call = {"to": cradle.address, "data": cradle.data("bear", EMPTY), "gas": hex(8_000_000)}
        anvil.call("eth_call", call, "latest")
        frame = anvil.call("debug_traceCall", call, "latest", {"tracer": "callTracer"})
        yield Mortals(anvil, cradle, frame["calls"][0]["to"])


class Forms:
    """What each form says of an address."""

    def __init__(self, settings, address):
        self._client, self._address = create_app(settings).test_client(), address

    def get(self, path):
        return self._client.get(path.replace(":a", self._address))

    def etherscan(self, module, action, **arguments):
        path = f"/api?module={module}&action={action}&" + "&".join(
            f"{name}={value}" for name, value in arguments.items()
        )
        return self.get(path).get_json()["result"]

    def standing(self):
        """Whether a contract stands there, by each form."""
        own = self.get("/api/v1/addresses/:a").get_json()
        many = self.get("/api/v1/addresses?addresses=:a").get_json()["addresses"][0]
        blockscout = self.get("/api/v2/addresses/:a").get_json()
        code = self.get("/api/v2/smart-contracts/:a").get_json()
        return {
            own["isContract"],
            many["isContract"],
            bool(blockscout["is_contract"]),
            blockscout["creation_status"] == "success",
            code.get("creation_status") == "success",
            code.get("deployed_bytecode") is not None,
        }

    def token(self):
        """Name, decimals, type, number of holders, and holders with their balances."""
        token = self.get("/api/v1/tokens/:a").get_json()
        if "code" in token:
            assert self.get("/api/v1/tokens/:a/holders").status_code == 404
            assert self.get("/api/v2/tokens/:a").status_code == 404
            assert self.get("/token/:a").location == self.get("/address/:a").request.path
            return None
        holders = self.get("/api/v1/tokens/:a/holders").get_json()["holders"]
        pairs = {(holder["address"], holder["balance"]) for holder in holders}
        return token["name"], token["decimals"], token["type"], token["holderCount"], pairs

    def lives(self):
        lives = self.get("/api/v1/addresses/:a").get_json()["lives"]
        return [(life["tokenSymbol"], life["endedIn"]) for life in lives]

    def held_by(self, holder, block=None):
        at = "" if block is None else f"?block={block}"
        tokens = self.get(f"/api/v1/addresses/{holder}/tokens{at}").get_json()["tokens"]
        return {token["symbol"] for token in tokens}

    def listed(self):
        return {token["symbol"] for token in self.get("/api/v1/tokens").get_json()["tokens"]}

    def transfers(self):
        records = self.get("/api/v1/token-transfers?tokenAddress=:a").get_json()["transfers"]
        return [(record["value"], record["tokenSymbol"], record["tokenType"]) for record in records]

    def creations(self):
        """The creating transaction, by each form."""
        own = self.get("/api/v1/addresses/:a").get_json()["creation"]["transactionHash"]
        blockscout = self.get("/api/v2/addresses/:a").get_json()["creation_transaction_hash"]
        [etherscan] = self.etherscan("contract", "getcontractcreation", contractaddresses=":a")
        return {own, blockscout, etherscan["txHash"]}


def test_a_contract_stands_from_its_creation_to_its_end_in_each_life(
    mortals, database_url, postgres, template, tmp_path
):
    anvil = mortals.anvil
    first = mortals.bear("MortalCoin")
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, mortals.address)

        def is_shown(standing):
            indexing.wait_for(anvil.head())
            serving.wait_until(lambda: forms.standing() == standing)  # notifications come soon

        is_shown({True})
        mortals.do(first, "end")
        is_shown({False})
        sent = mortals.do(mortals.cradle, "bear", solidity.artifact("SecondCoin", EVM).runtime)
        is_shown({True})
        assert forms.creations() == {sent}
        mortals.do(Contract(mortals.address, solidity.artifact("SecondCoin", EVM)), "end")
        mortals.do(mortals.cradle, "bear", solidity.artifact("SecondCoin", EVM).runtime)
        is_shown({True})
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        anvil.reorganise(2)  # the end, and the creation after it
        anvil.mine()
        is_shown({True})
        assert forms.creations() == {sent}
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


def test_an_end_without_traces_is_noticed_by_a_request(mortals, database_url):
    anvil = mortals.anvil
    first = mortals.bear("MortalCoin")
    mortals.do(first, "mint", anvil.accounts[0], 7)
    with Indexing(database_url, anvil.url, until=anvil.head(), traces="off") as indexing:
        forms = Forms(indexing.settings, mortals.address)
        serving.wait_until(lambda: forms.standing() == {True})
        mortals.do(first, "end")
        anvil.mine()
        indexing.wait_for(anvil.head())
        serving.wait_until(lambda: forms.standing() == {False})


def test_after_a_restart_the_next_life_of_a_wrapper_is_none_yet(mortals, database_url):
    anvil = mortals.anvil
    first = mortals.bear("MortalCoin")
    mortals.do(first, "mint", anvil.accounts[0], 7)
    mortals.do(first, "end")
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        database.execute(database_url, "UPDATE tokens SET wraps_since = 1")
        reader = Database(database_url, statement_timeout_ms=0)
        with closing(reader):
            row = reader.row("indexer/emitters_list_known", addresses=[data(mortals.address)])
        assert row[1:4] == (None, None, None)
        assert indexing.client().get(f"/token/{mortals.address}").status_code == 302


def test_the_time_of_the_genesis_block_is_no_interval(anvil, database_url):
    anvil.mine(5)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        database.execute(database_url, "UPDATE blocks SET timestamp = 'epoch' WHERE number = 0")
        assert indexing.client().get("/api/v2/stats").get_json()["average_block_time"] == 12_000


def test_a_token_has_the_name_type_and_holders_of_its_present_life(
    mortals, database_url, postgres, template, tmp_path
):
    anvil = mortals.anvil
    me, *others = anvil.accounts[:4]
    first = mortals.bear("MortalCoin")
    for holder in others:
        mortals.do(first, "mint", holder, 5)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, mortals.address)

        def is_shown(token, held, holder=others[0]):
            indexing.wait_for(anvil.head())
            serving.wait_until(lambda: forms.token() == token)
            serving.wait_until(lambda: forms.held_by(holder) == forms.listed() == held)

        is_shown(("First", 18, "BEP20", 3, {(other, "5") for other in others}), {"FIRST"})
        mortals.do(first, "end")
        ended_in = anvil.head()
        is_shown(None, set())
        second = mortals.bear("SecondCoin")
        is_shown(None, set())
        mortals.do(second, "mint", others[0], 7)
        is_shown(("Second", 6, "BEP20", 1, {(others[0], "7")}), {"SECOND"})
        assert forms.transfers() == [("7", "SECOND", "BEP20"), *[("5", "FIRST", "BEP20")] * 3]
        assert forms.lives() == [("SECOND", None), ("FIRST", ended_in)]
        assert forms.held_by(others[0], ended_in - 1) == {"FIRST"}
        assert forms.held_by(others[0], ended_in) == set()
        assert forms.held_by(others[0], anvil.head()) == {"SECOND"}
        assert "Earlier contract" in forms.get("/address/:a").text
        mortals.do(second, "end")
        items = mortals.bear("MortalItems")
        for id_ in (5, 6):
            mortals.do(items, "mint", others[0], id_)
        is_shown(("Items", 0, "BEP721", 1, {(others[0], "2")}), {"ITEMS"})
        mortals.do(items, "end")
        items = mortals.bear("MortalItems")
        mortals.do(items, "mint", me, 6)
        is_shown(("Items", 0, "BEP721", 1, {(me, "1")}), {"ITEMS"}, me)
        for name, type_, balance in ("MortalGoods", "BEP1155", "3"), ("MortalItems", "BEP721", "1"):
            mortals.do(items, "end")
            items = mortals.bear(name)
            mortals.do(items, "mint", me, 6)
            is_shown(("Items", 0, type_, 1, {(me, balance)}), {"ITEMS"}, me)
            assert forms.get("/api/v1/tokens/:a/items/6").get_json()["ownerCount"] == 1
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        for depth, token, held in (
            (1, None, set()),
            (10, ("Items", 0, "BEP721", 1, {(others[0], "2")}), {"ITEMS"}),
        ):
            anvil.reorganise(depth)
            anvil.mine()
            is_shown(token, held)
            assert digest(database_url) == fresh_digest(postgres, template, anvil)


@pytest.mark.parametrize("traces", ["auto", "off"])
def test_what_ends_in_the_block_of_its_first_event_is_no_token(
    mortals, database_url, postgres, template, tmp_path, traces
):
    anvil = mortals.anvil
    you = anvil.accounts[1]
    anvil.mine()
    mortals.live_for_a_block("MortalCoin", 5, 6)
    with Indexing(database_url, anvil.url, until=anvil.head(), traces=traces) as indexing:
        forms = Forms(indexing.settings, mortals.address)

        def is_shown(token, held, *transfers):
            indexing.wait_for(anvil.head())
            serving.wait_until(lambda: forms.token() == token)
            assert forms.held_by(you) == forms.listed() == held
            assert forms.get(f"/api/v1/addresses/{you}/items").get_json()["items"] == []
            assert forms.get("/api/v1/stats").get_json()["totalTokens"] == len(held)
            assert forms.transfers() == list(transfers)

        ended = [("6", "", "BEP20"), ("5", "", "BEP20")]
        is_shown(None, set(), *ended)
        mortals.live_for_a_block("MortalItems", 7)
        is_shown(None, set(), ("1", "", "BEP721"), *ended)
        coin = mortals.bear("SecondCoin")
        mortals.do(coin, "mint", you, 8)
        second = ("Second", 6, "BEP20", 1, {(you, "8")})
        is_shown(second, {"SECOND"}, ("8", "SECOND", "BEP20"), ("1", "", "BEP721"), *ended)
        mortals.do(coin, "wrap", you, 9)  # which alone would begin a life, too
        anvil.mine(2)  # which a bulk backfill leaves to the indexer
        indexing.wait_for(anvil.head())
        is_the_same_in_whatever_way(
            postgres, template, anvil, database_url, tmp_path, traces=traces
        )
        for depth, transfers in ((5, [("1", "", "BEP721"), *ended]), (7, ended)):
            anvil.reorganise(depth)
            anvil.mine()
            is_shown(None, set(), *transfers)
            assert digest(database_url) == fresh_digest(postgres, template, anvil, traces=traces)


def test_an_address_without_code_has_no_end(mortals, database_url, postgres, template, tmp_path):
    """In another of the ranges of a bulk backfill, after the end of a token that moved before."""
    anvil = mortals.anvil
    coin = mortals.bear("MortalCoin")
    mortals.do(coin, "mint", anvil.accounts[1], 5)
    mortals.do(coin, "end")
    anvil.mine(16)
    mortals.live_for_a_block("MortalCoin")
    anvil.mine(2)
    with Indexing(database_url, anvil.url, until=anvil.head()):
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
    ends = "SELECT count(*) FROM contracts WHERE code_hash IS NULL"
    assert database.execute(database_url, ends) == [(1,)]


def test_of_a_pruned_state_no_end_is_concluded(mortals, database_url):
    anvil = mortals.anvil
    coin = mortals.bear("MortalCoin")
    mortals.do(coin, "mint", anvil.accounts[1], 5)
    mortals.do(coin, "end")
    ended_in = anvil.head()

    def is_of_the_past(call):
        is_state = call["method"] in ("eth_call", "eth_getCode")
        return is_state and call["params"][1] != "latest"

    with faulty_node.FaultyNode(anvil.url) as node:
        node.fault = faulty_node.refuse(is_of_the_past, -32000, "missing trie node")
        with Indexing(database_url, node.url, until=ended_in) as indexing:
            forms = Forms(indexing.settings, mortals.address)
            assert forms.token() is None
            assert forms.held_by(anvil.accounts[1], ended_in - 1) == {""}


def test_a_token_of_another_type_begins_anew_and_keeps_its_old_transfers(
    anvil, database_url, postgres, template, tmp_path
):
    me, you = anvil.accounts[:2]
    coin, items = (anvil.deploy(me, name) for name in ("MortalCoin", "MortalItems"))
    proxy = anvil.deploy(me, "Replaceable", coin.address)
    upgraded = Mortals(anvil, proxy, proxy.address)
    upgraded.do(Contract(proxy.address, coin.artifact), "mint", you, 5)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, proxy.address)
        assert forms.token() == ("First", 18, "BEP20", 1, {(you, "5")})
        upgraded.do(proxy, "replace", items.address)
        upgraded.do(Contract(proxy.address, items.artifact), "mint", me, 8)
        indexing.wait_for(anvil.head())
        serving.wait_until(lambda: forms.token() == ("Items", 0, "BEP721", 1, {(me, "1")}))
        assert forms.transfers() == [("1", "ITEMS", "BEP721"), ("5", "FIRST", "BEP20")]
        is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
        assert auditing.run(indexing.settings, node=True) == audit.EXACT
        anvil.reorganise(2)
        anvil.mine()
        indexing.wait_for(anvil.head())
        serving.wait_until(lambda: forms.token() == ("First", 18, "BEP20", 1, {(you, "5")}))
        assert digest(database_url) == fresh_digest(postgres, template, anvil)


class Delegating(namedtuple("Delegating", "anvil account coin mint")):
    """An account that may delegate to a token, and a call that mints there."""

    def authorize(self, delegate, **fields):
        nonce = authorizations.nonce_of(self.anvil, self.account)
        signed = [authorizations.authorize(self.account, delegate, nonce)]
        sent = authorizations.send(self.anvil, signed, **fields)
        assert self.anvil.receipt_of(sent)["status"] == "0x1"


@pytest.fixture
def delegating(anvil):
    coin = anvil.deploy(anvil.accounts[0], "MortalCoin")
    account = authorizations.new_account(7)
    mint = {"to": account.address, "data": coin.data("mint", anvil.accounts[1], 5)}
    return Delegating(anvil, account, coin, mint)


def test_an_account_is_a_token_no_longer_than_its_delegation(
    delegating, database_url, postgres, template, tmp_path
):
    anvil = delegating.anvil
    delegating.authorize(delegating.coin.address, **delegating.mint)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, delegating.account.address.lower())
        assert forms.token()[0] == "First" and forms.listed() == {"FIRST"}
        delegating.authorize(ZERO, nonce=authorizations.nonce_of(anvil, authorizations.SPONSOR))
        indexing.wait_for(anvil.head())
        is_no_token_any_more(forms, anvil, database_url, postgres, template, tmp_path)


def test_an_account_that_delegated_within_a_block_is_no_token_after_it(
    delegating, database_url, postgres, template, tmp_path
):
    anvil = delegating.anvil
    delegating.authorize(delegating.coin.address)
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        forms = Forms(indexing.settings, delegating.account.address.lower())
        nonce = authorizations.nonce_of(anvil, authorizations.SPONSOR)
        authorizations.send(anvil, [], **delegating.mint)
        delegating.authorize(ZERO, nonce=nonce + 1)
        indexing.wait_for(anvil.head())
        is_no_token_any_more(forms, anvil, database_url, postgres, template, tmp_path)


def is_no_token_any_more(forms, anvil, database_url, postgres, template, tmp_path):
    serving.wait_until(lambda: forms.token() is None and forms.listed() == set())
    require_transfer_in_all_forms(forms, anvil.accounts[1])
    is_the_same_in_whatever_way(postgres, template, anvil, database_url, tmp_path)
    with postgres.cloned(template) as without_extensions:
        index_apart(without_extensions, anvil, "none")
        lives = "SELECT address, ended_in, earlier_lives FROM tokens ORDER BY address"
        stored = database.execute(without_extensions, lives)
        assert stored == database.execute(database_url, lives)


def require_transfer_in_all_forms(forms, recipient):
    """The one transfer of a token that has ended names it as it was before its end."""
    typed = forms.get("/api/v1/token-transfers?tokenAddress=:a&tokenType=BEP20").get_json()
    assert [record["tokenSymbol"] for record in typed["transfers"]] == ["FIRST"]
    [row] = forms.etherscan("account", "tokentx", contractaddress=":a")
    for path in ("", f"/transactions/{row['hash']}", f"/addresses/{recipient}"):
        [item] = forms.get(f"/api/v2{path}/token-transfers").get_json()["items"]
        assert (item["token_type"], item["token"]["symbol"]) == ("ERC-20", "FIRST"), path
    for path in ("advanced-filters", f"addresses/{recipient}/token-transfers/csv"):
        assert "FIRST" in forms.get(f"/api/v2/{path}").text, path
