"""Pending transactions as a node reports them."""

from eth_account import Account

from tests.support.faulty_node import altering

HASH = "0x" + "12" * 32
# Of a type that no hash proves.
SENT = {
    "hash": HASH,
    "from": "0x" + "ab" * 20,
    "to": None,
    "blockNumber": None,
    "type": "0x66",
    "value": "0x1",
    "nonce": "0x2",
    "gas": "0x5208",
    "input": "0x",
    "maxFeePerGas": "0x3",
}
_WALLET = Account.from_key("0x" + "01" * 32)
SIGNER = _WALLET.address.lower()


def signed(nonce, gas=21_000):
    """The JSON of a transaction of SIGNER."""
    fields = {
        "to": "0x" + "12" * 20,
        "value": 1,
        "nonce": nonce,
        "gas": gas,
        "maxFeePerGas": 3,
        "maxPriorityFeePerGas": 1,
        "chainId": 31_337,
        "type": 2,
    }
    made = _WALLET.sign_transaction({**fields, "data": "0xa9059cbb", "accessList": []})
    numbers = {**fields, "r": made.r, "s": made.s, "v": made.v, "yParity": made.v}
    return {
        name: hex(value) if isinstance(value, int) else value for name, value in numbers.items()
    } | {
        "hash": f"0x{bytes(made.hash).hex()}",
        "from": SIGNER,
        "input": "0xa9059cbb",
        "accessList": [],
        "blockNumber": None,
    }


def with_answers(answers):
    """A node with answers of its own by method, and the others of its chain, but for its pool: an
    error where an answer is one."""

    def alter(call, answer):
        method = call["method"]
        if method in answers or method.startswith("txpool"):
            answer.pop("error", None)
            answer["result"] = answers.get(method, ValueError)
            if answer["result"] is ValueError:
                answer["error"] = {"code": -32601, "message": "method not found"}
                del answer["result"]

    return altering(alter)
