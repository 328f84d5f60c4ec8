"""User operations (ERC-4337) of real entry points: rows, lists, bulk and reorganisations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scan.bulk import derivation
from scan.indexer import batch_reader
from scan.indexer.writer import Writer
from scan.settings import Settings
from tests.audit import auditing
from tests.audit.test_derived_truth import require_same, stored
from tests.bulk.backfilling import backfill, follow
from tests.support import derived_truth
from tests.support.anvil import Anvil
from tests.support.database import SHORT_CHECKPOINTS, Postgres, use_short_checkpoints
from tests.support.entry_points import ADDRESSES, BUNDLE_GAS, EntryPoint, read_operations
from tests.support.indexing import Indexing, settings_for
from tests.support.table_digest import digest


class Chain(NamedTuple):
    node: Anvil
    settings: Settings
    points: dict[str, EntryPoint]
    errand: str
    sponsor: str


def play(node: Anvil) -> dict[str, Any]:
    """By each entry point: two operations, of which one fails; a batch; two bundles of a contract;
    and an event of a contract that is none."""
    sender = node.accounts[0]
    errand, sponsor = node.deploy(sender, "Errand"), node.deploy(sender, "Sponsor")
    inner, forger = node.deploy(sender, "InnerBundler"), node.deploy(sender, "Forger")
    points = {version: EntryPoint(node, version) for version in ADDRESSES}
    for point in points.values():
        point.deposit(sponsor.address, 10**18)
        paying, poor = point.account(5), point.account(6, deposit_wei=0)
        run, fail = errand.data("run", 7), errand.data("fail")
        point.send(
            point.operation(paying, point.execute(errand.address, run), 0),
            point.operation(
                poor, point.execute(errand.address, fail), 0, paymaster=sponsor.address
            ),
        )
        node.mine()
        batch = point.execute_batch([(errand.address, 0, run), (errand.address, 0, run)])
        point.send(point.operation(paying, batch, 1), bundler=2)
        bundles = [
            point.bundle(
                point.operation(account, point.execute(errand.address, run), nonce, **paid)
            )
            for account, nonce, paid in ((paying, 2, {}), (poor, 1, {"paymaster": sponsor.address}))
        ]
        call = [bytes.fromhex(bundle[2:]) for bundle in bundles]
        node.transact(
            node.accounts[3], inner, "forward", point.contract.address, call, gas=BUNDLE_GAS
        )
        node.transact(node.accounts[4], forger, "forge", b"\1" * 32, paying.address)
        node.mine()
    return {"points": points, "errand": errand.address, "sponsor": sponsor.address}


@pytest.fixture(scope="module")
def chain(postgres: Postgres, template: str) -> Iterator[Chain]:
    with (
        Anvil() as node,
        postgres.cloned(template) as url,
        pytest.MonkeyPatch.context() as patch,
    ):
        played = play(node)
        patch.setattr(batch_reader, "BATCH_BLOCKS", 5)
        patch.setattr(Writer, "can_take", lambda *_: False)
        use_short_checkpoints(url)
        settings = Indexing(url, node.url).run_until(node.head()).settings
        yield Chain(node, settings, **played)


def require_rows(settings: Settings, operations: list[dict[str, Any]]) -> None:
    """The lists' counts and checkpoints, and what the audit finds."""
    entries = derived_truth.entries_of_user_operations(operations)
    counts = stored(settings, "list_counts", ("list", "key"), ["count"])
    require_same(counts, derived_truth.list_counts(entries))
    checkpoints = stored(
        settings,
        "list_checkpoints WHERE list LIKE 'user_operations%'",
        ("list", "key", "place"),
        ["ordinal", "block_number"],
    )
    require_same(checkpoints, derived_truth.checkpoints_of(entries, SHORT_CHECKPOINTS))
    assert auditing.run(settings, node=True) == 0


def test_operations_are_counted_as_the_node_has_them(chain: Chain) -> None:
    operations = read_operations(chain.node)
    assert len(operations) == 5 * len(ADDRESSES)
    assert [o["success"] for o in operations] == [True, False, True, True, True] * len(ADDRESSES)
    assert {o["paymaster"] for o in operations} == {None, chain.sponsor}
    assert sum(o["factory"] is not None for o in operations) == 2 * len(ADDRESSES)
    require_rows(chain.settings, operations)


def test_bulk_and_reorganisations_have_the_same_operations(
    chain: Chain,
    postgres: Postgres,
    template: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(derivation, "CHECKPOINT_EVERY", SHORT_CHECKPOINTS)
    node, head = chain.node, chain.node.head()
    with postgres.cloned(template) as url:
        use_short_checkpoints(url)
        settings = settings_for(url, node.url)
        assert backfill(settings, tmp_path / "files", last_block=head - 1)
        follow(settings, head)
        require_rows(settings, read_operations(node))
        node.reorganise(2)
        node.mine()
        follow(settings, head + 1)
        operations = read_operations(node)
        assert len(operations) < 5 * len(ADDRESSES)
        require_rows(settings, operations)
        with postgres.cloned(template) as fresh:
            use_short_checkpoints(fresh)
            Indexing(fresh, node.url).run_until(head + 1)
            assert digest(url) == digest(fresh)
        auditing.spoil(settings, "DELETE FROM list_counts WHERE key = ''")
        auditing.spoil(settings, "UPDATE list_counts SET count = count + 1")
        assert auditing.run(settings) == 1
        auditing.run(settings, repair=True)
        require_rows(settings, operations)
