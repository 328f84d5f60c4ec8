"""The answers of each door about the scenario's chain, as the files in expected/ have them."""

from pathlib import Path

import pytest

from tests.support import expected


@pytest.mark.parametrize(
    "subject", [file.stem for file in sorted(Path(__file__).parent.glob("expected/*.txt"))]
)
def test_answers_are_as_expected(client, scenario, subject):
    """Of contracts, people, and one transaction of each kind."""
    stage, truth = scenario.stage, scenario.truth
    contracts = {**stage.contracts, **stage.pools}
    names = {key: contract.address.lower() for key, contract in contracts.items()}
    names |= {f"person {number}": who.lower() for number, who in enumerate(stage.people)}
    trade, failed = truth.dex_trades[0], next(t for t in truth.transactions if not t["status"])
    item = next(t for t in truth.token_transfers if t["tokenId"] is not None)
    moved = max(truth.internal_transfers, key=lambda t: int(t["value"]))
    blobs = next(t for t in truth.transactions if t["blobVersionedHashes"])
    dollars = (t for t in truth.token_transfers if t["tokenAddress"] == contracts["dollar"].address)
    sent = next(t for t in dollars if int(t["fromAddress"], 16) and int(t["toAddress"], 16))
    by_kind = {"trade": trade, "item moved": item, "coin moved inside": moved}
    by_kind["dollar moved"] = sent
    names |= {kind: row["transactionHash"] for kind, row in by_kind.items()}
    names |= {"failed": failed["hash"], "with blobs": blobs["hash"]}
    names |= {"nobody": f"0x{40 * '1'}", "no hash": f"0x{64 * '1'}"}
    expected.compare(__file__, client, names, subject)
