"""A chain with user operations, and its index."""

from collections import namedtuple

import pytest

from tests.support import database, indexing
from tests.support.entry_points import ADDRESSES, BUNDLE_GAS, EntryPoint


class Chain(namedtuple("Chain", "node indexing errand sponsor client operations")):
    """`operations` are as expected/ has them, oldest first."""


@pytest.fixture(scope="module")
def chain(shared_database_url, shared_anvil):
    """By each entry point: two operations, of which one fails; a batch; two bundles of a contract;
    and an event of a contract that is none."""
    node, url, sender = shared_anvil, shared_database_url, shared_anvil.accounts[0]
    errand, sponsor = node.deploy(sender, "Errand"), node.deploy(sender, "Sponsor")
    inner, forger = node.deploy(sender, "InnerBundler"), node.deploy(sender, "Forger")
    for point in [EntryPoint(node, version) for version in ADDRESSES]:
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
        # What no account signed is refused, whatever its bundler has the entry point read first.
        forged = list(
            point.operation(paying, point.execute(errand.address, errand.data("fail")), 2)
        )
        forged[-1] = bytes(64) + b"\x1b"
        refused = point.bundle(forged)
        call = [bytes.fromhex(bundle[2:]) for bundle in (refused, *bundles)]
        node.transact(
            node.accounts[3], inner, "forward", point.contract.address, call, gas=BUNDLE_GAS
        )
        node.transact(node.accounts[4], forger, "forge", b"\1" * 32, paying.address)
        node.mine()
    limits = indexing.batches_of(5, commit_share=2**62)
    database.use_short_checkpoints(url)
    index = indexing.Indexing(url, node.url, limits=limits).run_until(node.head())
    client = index.client()
    listed = client.get("/api/v1/user-operations?limit=100&orderBy=asc").json
    return Chain(node, index, errand.address, sponsor.address, client, listed["userOperations"])
