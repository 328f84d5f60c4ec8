"""Acts of plain transactions: every type, signed here, and payments."""

from unittest.mock import patch

from eth_account import Account
from eth_account.typed_transactions import base as typed_transactions

from tests.support.anvil import ZERO
from tests.support.scenario.stage import ETHER, GWEI, MNEMONIC, STRANGERS, word

# The KZG commitment of a blob of zeros, and all proofs of it, are the point at infinity: computing
# them takes 2 s of processor, for the trusted setup. Verifying them takes each node 3.5 s, for its
# own, which it leaves out for accounts that it impersonates; the chain is the same.
INFINITY = b"\xc0" + bytes(47)
OF_ZEROS = {
    "load_trusted_setup": lambda *_: None,
    "blob_to_kzg_commitment": lambda *_: INFINITY,
    "compute_blob_kzg_proof": lambda *_: INFINITY,
    "compute_cells_and_kzg_proofs": lambda *_: ([bytes(2048)] * 128, [INFINITY] * 128),
}


def kinds_of_transaction(stage):
    """Types 0 to 4, signed here: the node's own signer chooses the type itself."""
    signer, authority = key_of(7), key_of(8)
    fees = {"maxFeePerGas": 20 * GWEI, "maxPriorityFeePerGas": GWEI}
    priced = {"gasPrice": 20 * GWEI}
    access = {"address": stage.contracts["gold"].address, "storageKeys": ["0x" + word(0)]}
    vault = bytes.fromhex(stage.contracts["vault"].address[2:])
    nonce = nonce_of(stage.anvil, authority)
    authorisation = {"chainId": chain_id(stage), "address": vault, "nonce": nonce}
    signed = authority.sign_authorization(authorisation)
    send_signed(stage, signer, priced)
    send_signed(stage, signer, {**priced, "accessList": [access], "type": 1})
    send_signed(stage, signer, {**fees, "type": 2})
    send_signed(stage, signer, {**fees, "maxFeePerBlobGas": GWEI, "type": 3}, blobs=[bytes(131072)])
    send_signed(stage, signer, {**fees, "authorizationList": [signed], "type": 4})
    zero_price(stage)


def zero_price(stage):
    """As validators and private chains do it: nothing paid for gas, in a block of no base fee."""
    base_fee = stage.anvil.call("eth_getBlockByNumber", "latest", False)["baseFeePerGas"]
    stage.anvil.call("anvil_setNextBlockBaseFeePerGas", "0x0")
    stage.anvil.send(stage.people[7], STRANGERS[14], value=1, gasPrice=0)
    stage.mine()
    stage.anvil.call("anvil_setNextBlockBaseFeePerGas", base_fee)


def plain_transfers(stage):
    one = stage.people[1]
    stage.anvil.send(one, one, value=ETHER)
    stage.anvil.send(one, STRANGERS[15], value=0)
    stage.anvil.send(one, ZERO, value=1)
    stage.anvil.send(one, "0x" + 39 * "0" + "4", value=0, data="0x1234")
    stage.anvil.send(one, STRANGERS[15], value=ETHER, data="0x" + b"for the coffee".hex())
    stage.anvil.send(one, one, value=0, data="0x00")
    stage.mine()


def key_of(number):
    Account.enable_unaudited_hdwallet_features()
    return Account.from_mnemonic(MNEMONIC, account_path=f"m/44'/60'/0'/0/{number}")


def chain_id(stage):
    return int(stage.anvil.call("eth_chainId"), 16)


def nonce_of(node, account):
    return int(node.call("eth_getTransactionCount", account.address, "latest"), 16)


def send_signed(stage, signer, fields, blobs=None):
    """A small payment of the given type, in a block of its own; blobs are of zeros."""
    transaction = {
        "chainId": chain_id(stage),
        "nonce": nonce_of(stage.anvil, signer),
        "to": bytes.fromhex(STRANGERS[16][2:]),
        "value": 10,
        "gas": 200_000,
        **fields,
    }
    with patch.multiple(typed_transactions, **OF_ZEROS):
        signed = signer.sign_transaction(transaction, blobs=blobs)
    stage.anvil.call("anvil_impersonateAccount", signer.address)
    stage.anvil.call("eth_sendRawTransaction", "0x" + signed.raw_transaction.hex())
    stage.mine()
    stage.anvil.call("anvil_stopImpersonatingAccount", signer.address)
