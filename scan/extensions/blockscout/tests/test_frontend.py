"""What Blockscout's own frontend sends, and the fields that its components read without a guard."""

import json
from urllib.parse import parse_qsl

import pytest

from scan.extensions.blockscout.tests.asking import most
from scan.extensions.blockscout.tests.submissions import submit, upload
from scan.extensions.blockscout.transaction_lists import ListBounds
from tests.support.explorer import standard_input
from tests.support.indexing import sources
from tests.support.vyper import BOX, NEWEST

WHOLE = {"updated-gas-oracle": "true"}


def test_gas_prices_are_objects_for_clients_that_say_so(client):
    """Whichever form is asked for first, and is cached."""
    gas_price = {
        "base_fee", "fiat_price", "price", "priority_fee", "priority_fee_wei", "time", "wei",
    }  # fmt: skip
    speeds = {"slow", "average", "fast"}
    for _ in range(2):
        stats, plain = (client.get("/api/v2/stats", headers=h).json for h in (WHOLE, {}))
        prices = stats["gas_prices"]
        assert prices.keys() == plain["gas_prices"].keys() == speeds
        assert {*map(type, plain["gas_prices"].values())} == {float}
        for price in prices.values():
            assert price.keys() == gas_price
            assert int(price["wei"]) >= int(price["priority_fee_wei"])
            assert price["price"] == pytest.approx(int(price["wei"]) / 10**9)
            assert price["base_fee"] + price["priority_fee"] == pytest.approx(price["price"])
        blocks = {name: p["time"] / stats["average_block_time"] for name, p in prices.items()}
        assert blocks == pytest.approx({"slow": 5, "average": 3, "fast": 1}, rel=0.01)
    line = client.get("/stats-service/api/v1/lines/averageGasPrice").json
    assert line["info"]["units"] == "Gwei" and any(float(p["value"]) for p in line["chart"])


def test_a_limit_ends_in_milliseconds_from_now_and_has_no_captcha(client):
    limits = client.get("/api/v2/blocks").headers
    assert 0 < int(limits["X-RateLimit-Reset"]) < 3_600_000
    assert limits["bypass-429-option"] == "no_bypass"
    assert "Bypass-429-Option" in limits["Access-Control-Expose-Headers"]
    ours = client.get("/api/v1/blocks").headers
    assert int(ours["X-RateLimit-Reset"]) > 10**9 and "bypass-429-option" not in ours


# The requests of each page with what its filters, menus and buttons send: facts read from the
# frontend's sources, lib/api/services and ui/, and from its requests in a browser (spring 2026).
ALL_STANDARDS = "ERC-20%2CERC-721%2CERC-1155%2CERC-404"
ITEM_STANDARDS = "ERC-721%2CERC-404%2CERC-1155"
PAGES = {
    "every page": "/stats /main-page/indexing-status /config/backend-version /config/backend",
    "home": """
        /main-page/blocks /main-page/transactions /stats/charts/transactions
        stats:/pages/main""",
    "blocks": "/blocks?type=block /blocks?type=reorg /blocks?type=uncle",
    "block": """
        /blocks/{block} /blocks/{block}/transactions /blocks/{block}/withdrawals
        /blocks/{block}/transactions?type=blob_transaction /blocks/{block}/internal-transactions
        /blocks/{block}/beacon/deposits""",
    "transactions": """
        /transactions?filter=validated /transactions?filter=pending /transactions/stats
        /transactions?type=blob_transaction stats:/pages/transactions""",
    "transaction": """
        /transactions/{transaction} /transactions/{transaction}/summary
        /transactions/{transaction}/token-transfers?type=ERC-20
        /transactions/{transaction}/internal-transactions /transactions/{transaction}/logs
        /transactions/{transaction}/state-changes /transactions/{transaction}/raw-trace
        /transactions/{transaction}/blobs""",
    "address": """
        /addresses/{person} /addresses/{person}/counters /addresses/{person}/tabs-counters
        /addresses/{person}/transactions?filter=to
        /addresses/{person}/transactions?sort=value&order=asc
        /addresses/{person}/internal-transactions?filter=from
        /addresses/{person}/token-transfers?type={standards}&filter=to
        /addresses/{person}/token-transfers?token={token} /addresses/{person}/logs
        /addresses/{person}/tokens?type=ERC-20 /addresses/{person}/tokens?type={items}
        /addresses/{person}/nft?type={items} /addresses/{person}/nft/collections?type=
        /addresses/{person}/token-balances /addresses/{person}/blocks-validated
        /addresses/{person}/coin-balance-history /addresses/{person}/withdrawals
        /addresses/{person}/coin-balance-history-by-day""",
    "accounts": "/addresses",
    "tokens": "/tokens?type={standards}&q=har /tokens?sort=holders_count&order=asc",
    "token": """
        /tokens/{token} /tokens/{token}/counters /tokens/{token}/transfers
        /tokens/{token}/holders /addresses/{token}/tabs-counters""",
    "instances": "/tokens/{collection}/instances?holder_address_hash={person}",
    "token transfers": "/token-transfers?type={standards} /internal-transactions",
    "search": """
        /search?q=har /search/quick?q=harbor /search/check-redirect?q={transaction}""",
    "verified contracts": """
        /smart-contracts?filter=solidity&sort=balance&order=desc&q=a /smart-contracts/counters
        /config/smart-contracts/languages stats:/pages/contracts""",
    "verification": "/smart-contracts/verification/config",
    "statistics": """
        stats:/counters stats:/lines stats:/docs/swagger.yaml
        stats:/lines/newTxns?from=2026-10-27&to=2026-11-26&resolution=DAY
        stats:/lines/averageGasPrice?resolution=MONTH&from=2025-11-26
        /stats/hot-smart-contracts?scale=5m
        /stats/hot-smart-contracts?scale=30d&sort=transactions_count&order=desc""",
    "withdrawals": "/withdrawals /withdrawals/counters /beacon/deposits /beacon/deposits/count",
    "user operations": """
        /proxy/account-abstraction/operations?transaction_hash={transaction}
        /proxy/account-abstraction/status""",
    "advanced filter": """
        /advanced-filters/methods?q=transfer
        /advanced-filters?transaction_types={standards}&age=7d&age_from={week_ago}&age_to={now}
        /advanced-filters?methods=0xa9059cbb&methods_names=transfer&address_relation=or
        /advanced-filters?token_contract_address_hashes_to_include=native&amount_from=1
        /advanced-filters/csv?age=7d&age_from={week_ago}&age_to={now}&recaptcha_response=x""",
    "files": """
        /addresses/{person}/transactions/csv?{period}&filter_type=address&filter_value=to
        /addresses/{person}/logs/csv?{period}&filter_type=topic&filter_value={transaction}
        /tokens/{token}/holders/csv?recaptcha_response=x /config/csv-export""",
}
NOT_OFFERED = """
    /api/account/v2/user/info /api/account/v2/get_csrf /api/v1/graphql /api/v2/key
    /api/v2/proxy/metadata/addresses /api/v2/proxy/3rdparty/xname/addresses/{person}
    /api/v2/blobs/{transaction} /api/v2/proxy/account-abstraction/accounts/{person}"""


@pytest.fixture(scope="module")
def named(truth):
    """What the paths of PAGES name."""
    of_types = {token["type"]: token["address"] for token in truth.tokens}
    times = {"week_ago": "2026-11-19T00:00:00.000Z", "now": "2026-11-26T00:00:00.000Z"}
    return {
        **times,
        "block": truth.blocks[-1]["number"],
        "collection": of_types["BEP721"],
        "items": ITEM_STANDARDS,
        "period": f"from_period={times['week_ago']}&to_period={times['now']}",
        "person": most(truth, "txCount"),
        "standards": ALL_STANDARDS,
        "token": of_types["BEP20"],
        "transaction": truth.transactions[-1]["hash"],
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_request_of_a_page_is_answered(client, named, page):
    for path in PAGES[page].format(**named).split():
        prefix = "/stats-service/api/v1" if path.startswith("stats:") else "/api/v2"
        response = client.get(prefix + path.removeprefix("stats:"), headers=WHOLE)
        assert response.status_code == 200, (path, response.text)


def test_what_is_not_offered_is_not_found(client, named):
    """Then the frontend hides the part; anything else is an error of its page."""
    for path in NOT_OFFERED.format(**named).split():
        assert client.get(path, headers=WHOLE).status_code == 404, path


@pytest.mark.parametrize(("order", "step"), [("asc", -1), ("desc", 1)])
def test_transactions_of_an_address_can_be_sorted(ask, truth, order, step):
    path = f"/addresses/{most(truth, 'txCount')}/transactions"
    usual = ask.rows(path)
    for sort, amount in (
        ("value", lambda row: int(row["value"])),
        ("fee", lambda row: int(row["fee"]["value"])),
    ):
        rows = ask.rows(path, sort=sort, order=order, items_count=7)
        assert [*map(amount, rows)] == sorted(map(amount, usual), reverse=True)[::step]
        assert {row["hash"] for row in rows} == {row["hash"] for row in usual}
        assert len(rows) == len(usual) > 7
    sources(ask.client).get(ListBounds).compared = 3
    for sort in ("value", "nothing", "block_number"):  # of a list that is too long, or unknown
        rows = ask.rows(path, sort=sort, order=order)
        assert rows == usual[::step]


BY_SORT = [
    *(f"/smart-contracts?sort={sort}&order=asc" for sort in ("balance", "transactions_count")),
    *(
        f"/tokens?sort={sort}&order=desc"
        for sort in ("circulating_market_cap", "fiat_value", "holders_count")
    ),
]
ORDERED = [*((path, None) for path in BY_SORT), ("/tokens?limit=20&q=", 20)]


@pytest.mark.parametrize(("path", "most"), ORDERED)
def test_every_order_of_the_menus_is_answered(ask, path, most):
    plain, _, query = path.partition("?")
    items = ask(plain, **dict(parse_qsl(query)))["items"]
    assert items == ask(plain)["items"][:most]


@pytest.mark.thorough
def test_balances_around_a_transaction_are_those_of_the_node(ask, truth, scenario):
    """A row of a token whose balances are not known is left out: clients subtract them."""
    blocks = {t["transactionHash"]: hex(t["blockNumber"]) for t in truth.token_transfers}
    rows = [
        (row, block)
        for sent, block in blocks.items()
        for row in ask(f"/transactions/{sent}/state-changes")["items"]
        if row["type"] != "coin"
    ]
    for row, _ in rows:
        assert int(row["balance_after"]) - int(row["balance_before"]) == int(row["change"])
    of_amounts = [(row, block) for row, block in rows if row["token_id"] is None]
    for row, block in of_amounts:
        data = f"0x70a08231{row['address']['hash'][2:].lower():0>64}"
        call = {"to": row["token"]["address_hash"], "data": data}
        assert int(scenario.anvil.call("eth_call", call, block), 16) == int(row["balance_after"])
    assert len(of_amounts) > 10


def test_a_blob_has_the_transactions_that_carried_it(client, truth):
    carried = [t for t in truth.transactions if t["blobVersionedHashes"]]
    for sent in carried:
        for hash_ in sent["blobVersionedHashes"]:
            blob = client.get(f"/api/v2/blobs/{hash_}").json
            assert blob["hash"] == hash_
            carriers = [t["transaction_hash"] for t in blob["transaction_hashes"]]
            assert sent["hash"] in carriers and len({*carriers}) == len(carriers)
    assert carried
    assert client.get(f"/api/v2/blobs/0x01{'00' * 31}").status_code == 404


SOURCE = "pragma solidity ^0.8.0; contract Tab { uint256 public y = 3; }"
VYPER_FORM = {"compiler_version": f"v{NEWEST}", "license_type": "none", "evm_version": "default"}
FORM = {
    "compiler_version": "v0.8.28+commit.7893614a",
    "license_type": "none",
    "is_optimization_enabled": "false",
    "optimization_runs": "200",
    "evm_version": "default",
}
NAMED = {
    "contract_name": "undefined",
    "constructor_args": "",
    "autodetect_constructor_args": "true",
}


def forms(standard):
    """The forms of the frontend's methods, with what its scripts leave undefined."""
    vyper = {"language": "Vyper", "sources": {"B.vy": {"content": BOX}}, "settings": {}}
    text = {"source_code": SOURCE, "is_yul_contract": "false", "libraries": "undefined"}
    return {
        "flattened-code": {**FORM, **NAMED, **text},
        "multi-part": {**FORM, "files[0]": upload(SOURCE, "Tab.sol")},
        "standard-input": {
            **NAMED,
            "compiler_version": FORM["compiler_version"],
            "license_type": "none",
            "files[0]": upload(json.dumps(standard), "in.json"),
        },
        "vyper-code": {**VYPER_FORM, "contract_name": "Box", "source_code": BOX},
        "vyper-multi-part": {**VYPER_FORM, "files[0]": upload(BOX, "B.vy")},
        "vyper-standard-input": {**VYPER_FORM, "files[0]": upload(json.dumps(vyper), "in.json")},
    }


def test_the_forms_of_all_methods_are_submitted(explorer):
    """None is refused for what a page's script left undefined."""
    address = explorer.place("6002600202")
    for method, form in forms(standard_input({"Tab.sol": SOURCE})).items():
        sent = submit(explorer, address, method, **form)
        assert sent.status_code == 200, (method, sent.text)
        assert "undefined" not in str(explorer.submission(sent))
