"""`scan keep`: all rows of some addresses stay, and other lists are as without it."""

from collections import Counter, namedtuple
from dataclasses import replace

import pytest

from app import create_app
from scan.commands.audit import EXACT
from scan.extensions.retention.tests.removal import pruned_copy, whole_settings
from tests.support import auditing, table_digest
from tests.support.partitions import lists

__all__ = ["whole_settings"]

pytestmark = pytest.mark.thorough

OF_ADDRESS = """
    addresses/{0} addresses/{0}/history addresses/{0}/history?orderBy=asc addresses/{0}/balances
    addresses/{0}/internal addresses/{0}/items addresses/{0}/tokens addresses/{0}/tokens?block=50
    addresses/{0}/trades addresses/{0}/transactions addresses/{0}/transfers
    transactions?address={0}&orderBy=asc&limit=7 transactions?from={0} transactions?to={0}
    transactions?from={0}&status=true token-transfers?address={0}&orderBy=asc
    token-transfers?from={0} token-transfers?to={0} token-transfers?tokenAddress={0}
    internal-transfers?address={0} internal-transfers?from={0} internal-transfers?to={0}
    dex-trades?maker={0} logs?address={0} logs?address={0}&orderBy=asc&limit=9
    contract-creations?creator={0} contract-creations?factory={0} tokens/{0}/holders?block=50
    user-operations?sender={0} user-operations?bundler={0} authorizations?authority={0}
    addresses/{0}/sums/transactions addresses/{0}/sums/token-transfers
""".split()
OF_ADDRESS_ELSEWHERE = """
    /api?module=account&action=txlist&address={0} /api?module=account&action=tokentx&address={0}
    /api?module=account&action=txlistinternal&address={0}
    /api?module=logs&action=getLogs&address={0} /api?module=account&action=fundedby&address={0}
    /api?module=contract&action=getcontractcreation&contractaddresses={0}
    /api/v2/addresses/{0}/counters /api/v2/addresses/{0}/transactions
    /api/v2/addresses/{0}/token-transfers /api/v2/addresses/{0}/logs
    /api/v2/addresses/{0}/coin-balance-history /address/{0} /address/{0}?tab=transfers
""".split()
OF_TRANSACTION = """
    /api/v1/transactions/{0} /api/v1/transactions/{0}/internal /api/v1/transactions/{0}/trace
    /api/v1/authorizations?transaction={0} /api/v2/transactions/{0}
    /api/v2/transactions/{0}/token-transfers /api/v2/transactions/{0}/logs
    /api/v1/search?q={0} /api?module=transaction&action=gettxreceiptstatus&txhash={0}
""".split()

UNLIMITED = dict.fromkeys(
    ("rate_limit_anonymous", "rate_limit_address", "rate_limit_pages"), "1000000/minute"
)


class Keeping(namedtuple("Keeping", "whole alone client settings first kept others before")):
    """One chain with all rows, with those from the block `first` on, and with these and those of
    the addresses `kept`; `before` is the digest of the last before rows were removed."""


@pytest.fixture(scope="module")
def keeping(postgres, whole_settings, scenario):
    first, people = scenario.anvil.head() // 2, scenario.stage.people
    tokens = [token["address"] for token in scenario.truth.tokens[:5]]
    kept = [people[1], tokens[1]]
    others = [address for address in (*people[:3], *tokens[:3]) if address not in kept]
    with (
        pruned_copy(postgres, whole_settings, first) as (alone, _),
        pruned_copy(postgres, whole_settings, first, kept) as (own, before),
    ):
        unlimited = (replace(s, **UNLIMITED) for s in (whole_settings, alone, own))
        clients = (create_app(s).test_client() for s in unlimited)
        yield Keeping(*clients, own, first, kept, others, before)


def paths_of(address):
    api = [f"/api/v1/{path}" for path in OF_ADDRESS]
    return [path.format(address) for path in (*api, *OF_ADDRESS_ELSEWHERE)]


def pages(client, path):
    """The status and the JSON, or the text, of each of a list's first pages."""
    pages = [(first := client.get(path)).status_code, first.text]
    while (following := (first.json or {}).get("next")) and len(pages) < 20:
        first = client.get(f"{path}{'&' if '?' in path else '?'}cursor={following}")
        pages += [first.status_code, first.text]
    return pages


def test_lists_of_kept_addresses_are_those_of_an_index_with_all_rows(keeping):
    longer = 0
    for path in (path for address in keeping.kept for path in paths_of(address)):
        whole, alone, own = (pages(client, path) for client in keeping[:3])
        assert own == whole, path
        longer += len(str(whole)) > 1.3 * len(str(alone))
    assert longer > 25


def test_other_lists_are_as_without_kept_addresses(keeping, scenario):
    paths = {f"/api/v1/{path}" for path in lists(keeping.whole, scenario)}
    paths |= {path for address in keeping.others for path in paths_of(address)}
    paths -= {path for path in paths for address in keeping.kept if address in path}
    answered = 0
    for path in sorted(paths):
        alone = pages(keeping.alone, path)
        assert pages(keeping.client, path) == alone, path
        answered += alone[0] == 200
    assert answered > 150


def hashes_of(truth, kept):
    """The transactions of which some row has one of these addresses as a party."""
    named = (
        *(truth.transactions, truth.token_transfers, truth.internal_transfers, truth.dex_trades),
        *(truth.logs, truth.user_operations),
    )
    return {
        row.get("transactionHash") or row["hash"]
        for rows in named
        for row in rows
        if any(row[name] in kept for name in row.keys() - {"tokenIn", "tokenOut"})
    }


def test_transactions_of_kept_addresses_are_whole_and_others_are_not_there(keeping, scenario):
    kept, statuses = hashes_of(scenario.truth, keeping.kept), Counter()
    older = [t for t in scenario.truth.transactions if t["blockNumber"] < keeping.first]
    for one in (transaction["hash"] for transaction in older):
        paths = OF_TRANSACTION if one in kept else OF_TRANSACTION[:2]
        for path in (path.format(one) for path in paths):
            expected = keeping.whole.get(path) if one in kept else keeping.alone.get(path)
            answer = keeping.client.get(path)
            assert (answer.status_code, answer.text) == (expected.status_code, expected.text), path
        statuses[answer.status_code] += 1
    assert min(statuses[200], statuses[404]) > 60, statuses


def test_an_audit_is_exact(keeping):
    assert auditing.run(keeping.settings) == EXACT
    assert auditing.run(keeping.settings, node=True, first=0, last=10**6) == EXACT
    after = table_digest.digest(keeping.settings.database_url)
    for table in ("addresses", "token_holders", "token_items", "tokens", "list_counts", "pools"):
        assert after[table] == keeping.before[table], table
