"""`scan keep`: any path answers about a kept address as an index with all rows does, and about
others as one without kept addresses."""

import json
import re
from collections import Counter, namedtuple
from dataclasses import replace

import pytest

from app import create_app
from scan.commands.audit import EXACT
from scan.database.lists import served_entities
from scan.extensions.events.tests.coffers import address_of, fill, following
from scan.extensions.retention.tests.removal import pruned_copy, whole_index
from scan.hex import to_hex
from scan.indexer.block_rows import load_standard_topics
from tests.support import auditing, table_digest
from tests.support.openapi_document import DOCUMENT, resolved
from tests.support.partitions import lists

pytestmark = pytest.mark.thorough

IN_PATHS = re.compile(r"<(?:\w+:)?(\w+)>|{(\w+)}")
# Not of the chain's rows: what is verified, and pictures.
LEFT_OUT = ("/server/", "/repo-ui/", "/v2/", "/nft/pictures/")
OF_POOLS = "/api/v1/pools?"  # with the last trade of each, which is kept where the pool is
ANY_ADDRESS = {"$ref": "#/components/schemas/AnyCaseAddress"}
OTHER_ARGUMENTS = {"orderBy": "asc", "ended": "true", "block": "50", "format": "ndjson"}
OTHER_ARGUMENTS |= {"interval": "5m"}
TABS = "transactions transfers internal trades tokens items history logs events approvals contract"
ACTIONS = """
    account=txlist account=txlistinternal account=tokentx account=tokennfttx account=token1155tx
    account=fundedby account=getminedblocks account=txsBeaconWithdrawal account=addresstokenbalance
    account=addresstokennftbalance account=tokenlist logs=getLogs
""".split()
OF_CONTRACTS = """
    account=tokentx account=tokennfttx account=token1155tx account=tokenbalance
    account=addresstokennftinventory token=tokenholderlist token=tokeninfo token=tokenholdercount
    stats=tokensupply contract=getcontractcreation
""".split()


class Keeping(namedtuple("Keeping", "whole alone client settings first kept others items before")):
    """One chain with all rows, with those from the block `first` on, and with these and those of
    the addresses `kept`; `items` are ids by token, `before` is the digest of the last before rows
    were removed."""


@pytest.fixture(scope="module", params=["all", "standard"])
def keeping(request, postgres, template, scenario):
    truth, first, people = scenario.truth, scenario.anvil.head() // 2, scenario.stage.people
    items = {t["tokenAddress"]: t["tokenId"] for t in truth.token_transfers if t["tokenId"]}
    coins = [token["address"] for token in truth.tokens if token["type"] == "BEP20"]
    of_types = {token["type"]: token["address"] for token in truth.tokens[::-1]}
    # The contract with most older logs that have no rows in "standard", of calls inside.
    standard = {to_hex(topic) for topic in load_standard_topics()}
    receivers = {each["hash"]: each["toAddress"] for each in truth.transactions}
    [(emitter, _)] = Counter(
        log["address"]
        for log in truth.logs
        if log["address"] != receivers[log["transactionHash"]]
        and log["blockNumber"] < first
        and not standard.intersection(log["topics"][:1])
    ).most_common(1)
    kept = [people[1], coins[1], of_types["BEP721"], of_types["BEP1155"]]
    kept += [emitter, truth.dex_trades[0]["pairAddress"]]
    others = [address for address in (*people[:3], *coins[:3], *items) if address not in kept]
    abi = scenario.stage.contracts["dollar"].artifact.abi
    limits = ("rate_limit_anonymous", "rate_limit_address", "rate_limit_pages")
    unlimited = dict.fromkeys(limits, "1000000/minute")
    with whole_index(postgres, template, scenario, logs=request.param) as whole:
        connection, followed = following(whole.database_url)
        with connection:
            for address in coins[:2]:
                followed.add(address_of(address), f"coin_{address[2:12]}", json.dumps(abi))
            followed.make_views()
            fill(followed)
        with (
            pruned_copy(postgres, whole, first) as (alone, _),
            pruned_copy(postgres, whole, first, kept) as (own, before),
        ):
            clients = (
                create_app(replace(settings, **unlimited)).test_client()
                for settings in (whole, alone, own)
            )
            yield Keeping(*clients, own, first, kept, others, items, before)


def paths_of(keeping, address):
    """Every path that has an address in it, every list by a filter of addresses, pages' tabs."""
    other = next(each for each in keeping.others if each != address)
    given = {"event": "Transfer", "chain_id": 31337, "match": "any", "name": "transactions"}
    given |= dict.fromkeys(("address", "address_hash"), address) | {"other": other}
    given |= {"token_id": keeping.items.get(address, 1), "digest": "00"}
    for rule in keeping.whole.application.url_map.iter_rules():
        is_of_address = "GET" in rule.methods and {"address", "address_hash"} & rule.arguments
        if is_of_address and not rule.rule.startswith(LEFT_OUT):
            path = IN_PATHS.sub(lambda name: str(given[name[1]]), rule.rule)
            template = IN_PATHS.sub(r"{\1}", rule.rule)
            yield from (path, *with_arguments(path, template, other))
    for template in DOCUMENT["paths"]:
        of_template = with_arguments(template, template, address)
        yield from (path for path in of_template if not path.startswith(OF_POOLS))
    for tab in TABS.split():
        yield from (f"/address/{address}?tab={tab}", f"/token/{address}?tab={tab}")
    for action in ACTIONS:
        yield f"/api?module={action.replace('=', '&action=')}&address={address}"
    for action in OF_CONTRACTS:
        path = f"/api?module={action.replace('=', '&action=')}&contractaddress={address}"
        yield from (path, f"{path}&address={other}", f"{path}&contractaddresses={address}")
    for name, entity in served_entities().items():
        keys = [each.key for each in entity.filters if each.kind in ("address", "pool")]
        for key in keys if entity.is_queried else ():
            yield json.dumps({"entity": name, "filter": {key: address}, "limit": 50})


def with_arguments(path, template, address):
    """A path with each of its parameters that is an address, and with those of OTHER_ARGUMENTS."""
    declared = DOCUMENT["paths"].get(template, {}).get("get", {}).get("parameters", ())
    named = {each["name"]: each["schema"] for each in map(resolved, declared)}
    of_addresses = [f"{name}={address}" for name, schema in named.items() if schema == ANY_ADDRESS]
    more = [f"{name}={value}" for name, value in OTHER_ARGUMENTS.items() if name in named]
    if path == template:  # without an address it is not an address's
        more = [f"{of_addresses[0]}&{argument}" for argument in more if of_addresses]
    return [f"{path}?{each}" for each in (*of_addresses, *more) if "{" not in path]


def pages(client, path):
    """The status and the text of each of a list's first pages."""
    if path[0] == "{":
        answer = client.post("/api/v1/query", data=path, content_type="application/json")
        return [answer.status_code, answer.text]
    answer, pages, following = client.get(path), [], None
    while answer.status_code != 404 and len(pages) < 20:
        pages += [answer.status_code, answer.text]
        following = answer.json.get("next") if isinstance(answer.json, dict) else None
        if following is None:
            return pages
        answer = client.get(f"{path}{'&' if '?' in path else '?'}cursor={following}")
    return [*pages, answer.status_code]


def test_what_is_said_of_kept_addresses_is_what_an_index_with_all_rows_says(keeping):
    paths = [path for address in keeping.kept for path in paths_of(keeping, address)]
    answers = {path: [pages(client, path) for client in keeping[:3]] for path in paths}
    differing = [path for path, (whole, _, own) in answers.items() if own != whole]
    # A node that is busy may have been late for one of them.
    assert not [p for p in differing if pages(keeping.client, p) != pages(keeping.whole, p)]
    longer = {path for path, (whole, alone, _) in answers.items() if whole != alone}
    kinds = {re.sub("0x[0-9a-f]{40}", "", path) for path in longer}
    assert len(kinds) > 100, kinds


def test_other_lists_are_as_without_kept_addresses(keeping, scenario):
    paths = {f"/api/v1/{path}" for path in lists(keeping.whole, scenario)}
    paths |= {path for address in keeping.others for path in paths_of(keeping, address)}
    paths -= {path for path in paths for address in keeping.kept if address in path}
    answered = 0
    for path in sorted(paths):
        alone = pages(keeping.alone, path)
        assert pages(keeping.client, path) == alone, path
        answered += alone[0] == 200
    assert answered > 1000


def test_transactions_of_kept_addresses_are_whole_and_others_are_not_there(keeping, scenario):
    of_transaction = """
        /api/v1/transactions/{0} /api/v1/transactions/{0}/internal /api/v1/transactions/{0}/trace
        /api/v1/authorizations?transaction={0} /api/v2/transactions/{0}
        /api/v2/transactions/{0}/token-transfers /api/v2/transactions/{0}/logs
        /api/v1/search?q={0} /api?module=transaction&action=gettxreceiptstatus&txhash={0}
    """.split()
    truth, statuses = scenario.truth, Counter()
    named = (
        *(truth.transactions, truth.token_transfers, truth.internal_transfers, truth.dex_trades),
        *(truth.logs, truth.user_operations),
    )
    # Of which some row has one of the kept addresses as a party.
    kept = {
        row.get("transactionHash") or row["hash"]
        for rows in named
        for row in rows
        if any(row[name] in keeping.kept for name in row)
    }
    as_of = {True: (keeping.whole, of_transaction), False: (keeping.alone, of_transaction[:2])}
    older = [t for t in truth.transactions if t["blockNumber"] < keeping.first]
    for one in (transaction["hash"] for transaction in older):
        same, paths = as_of[one in kept]
        for path in (path.format(one) for path in paths):
            expected, answer = same.get(path), keeping.client.get(path)
            assert (answer.status_code, answer.text) == (expected.status_code, expected.text), path
        statuses[answer.status_code] += 1
    assert min(statuses[200], statuses[404]) > 30, statuses


def test_an_audit_is_exact(keeping):
    assert auditing.run(keeping.settings) == EXACT
    assert auditing.run(keeping.settings, node=True, first=0, last=10**6) == EXACT
    after = table_digest.digest(keeping.settings.database_url)
    for table in ("addresses", "token_holders", "token_items", "tokens", "list_counts", "pools"):
        assert after[table] == keeping.before[table], table
