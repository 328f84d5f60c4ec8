"""One chain for all files of this room."""

import pytest

from scan.extensions.backfill.tests.history_files import signed_chain
from tests.support.anvil import Anvil
from tests.support.scenario import contracts, hostile_tokens, tokens, transactions
from tests.support.scenario.malformed_logs import malformed_logs
from tests.support.scenario.stage import GWEI, Stage

ACTS = (
    tokens.honest_tokens,
    tokens.collections,
    tokens.items,
    tokens.wrappers,
    contracts.creations,
    contracts.failures,
    transactions.plain_transfers,
    contracts.purses,
    hostile_tokens.liar,
    malformed_logs,
    transactions.zero_price,
)


@pytest.fixture(scope="package")
def signed():
    """All of its transactions are signed, as a file has them."""
    with Anvil() as anvil:
        stage = Stage(anvil)
        for act in ACTS:
            act(stage)
        signer, authority = transactions.key_of(7), transactions.key_of(8)
        nonce = transactions.nonce_of(stage.anvil, authority)
        vault = bytes.fromhex(stage.contracts["vault"].address[2:])
        authorization = authority.sign_authorization(
            {"chainId": signed_chain.CHAIN_ID, "address": vault, "nonce": nonce}
        )
        fees = {"maxFeePerGas": 20 * GWEI, "maxPriorityFeePerGas": GWEI}
        access = {"address": stage.contracts["gold"].address, "storageKeys": ["0x" + 64 * "0"]}
        priced = {"gasPrice": 20 * GWEI}
        transactions.send_signed(stage, signer, priced)
        transactions.send_signed(stage, signer, {**priced, "accessList": [access], "type": 1})
        transactions.send_signed(stage, signer, {**fees, "type": 2})
        transactions.send_signed(
            stage, signer, {**fees, "authorizationList": [authorization], "type": 4}
        )
        anvil.mine(4)
        yield anvil
