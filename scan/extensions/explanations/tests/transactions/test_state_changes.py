"""GET /transactions/:hash/state-changes, beside the states of the blocks around."""

from eth_utils import keccak

from scan.extensions.explanations.tests.transactions import conftest
from scan.extensions.explanations.tests.transactions.conftest import answer_of
from tests.support import faulty_node


def test_state_changes_are_the_states_of_the_blocks_around(played):
    """Of transactions alone in their blocks; the miner's account has the block's reward."""
    fields = ("balance", "nonce", "code")

    def state(address, block):
        code = bytes.fromhex(played.anvil.call("eth_getCode", address, block)[2:])
        return {
            "balance": str(int(played.anvil.call("eth_getBalance", address, block), 16)),
            "nonce": int(played.anvil.call("eth_getTransactionCount", address, block), 16),
            "code": {"size": len(code), "hash": "0x" + keccak(code).hex()} if code else None,
        }

    for name in ("alone", "clearing", "deployment", "money", "failed alone"):
        changes = answer_of(played, name, "state-changes")
        number = changes["blockNumber"]
        receipt = played.anvil.call("eth_getTransactionReceipt", played.sent[name])
        touched = {receipt["from"], receipt["to"] or receipt["contractAddress"]}
        by_address = {account["address"]: account for account in changes["accounts"]}
        assert [*by_address] == sorted(by_address)
        states = {
            address: [state(address, hex(block)) for block in (number - 1, number)]
            for address in {*by_address, *touched}
        }
        changed = {address for address, (before, after) in states.items() if before != after}
        assert changed | {a for a, c in by_address.items() if c["storage"]} == {*by_address}
        for address, account in by_address.items():
            before, after = states[address]
            pairs = {
                field: {"before": before[field], "after": after[field]}
                for field in fields
                if before[field] != after[field]
            }
            unchanged = dict.fromkeys(fields)
            shown = {field: account[field] for field in fields}
            assert shown == unchanged | pairs, (name, address)
            for slot in account["storage"]:
                at = [
                    played.anvil.call("eth_getStorageAt", address, slot["slot"], hex(block))
                    for block in (number - 1, number)
                ]
                assert at == [slot["before"], slot["after"]] and at[0] != at[1]
        assert changes["truncated"] is False
    cleared = answer_of(played, "clearing", "state-changes")
    [account] = [account for account in cleared["accounts"] if account["storage"]]
    values = {slot["slot"]: slot["after"] for slot in account["storage"]}
    assert values["0x" + 63 * "0" + "1"] == "0x" + 64 * "0"


def test_the_parity_form_of_state_changes_says_the_same(played):
    """As OpenEthereum's documentation has it, of a node without tracers."""
    one, two = ("0x" + 40 * digit for digit in "12")
    word = {"from": f"0x{1:064x}", "to": f"0x{0:064x}"}
    paid = {"balance": {"*": {"from": "0x7", "to": "0x5"}}, "nonce": "=", "code": "="}
    made = {"balance": {"+": "0x2"}, "nonce": {"+": "0x1"}, "code": {"+": "0x6001"}}
    diff = {one: {**paid, "storage": {f"0x{9:064x}": {"*": word}}}, two: {**made, "storage": {}}}
    replayed = faulty_node.replacing("trace_replayTransaction", {"stateDiff": diff})
    fault = faulty_node.before(faulty_node.refuse_method("debug_traceTransaction"), replayed)
    with conftest.behind(played, fault) as (client, _):
        accounts = answer_of(played, "fine", "state-changes", client)["accounts"]
    code = {"size": 2, "hash": "0x" + keccak(b"\x60\1").hex()}
    slot = {"slot": f"0x{9:064x}", "before": word["from"], "after": word["to"]}
    expected = [
        (one, {"before": "7", "after": "5"}, None, None, [{**slot, "variables": []}]),
        (two, {"before": "0", "after": "2"}, {"before": 0, "after": 1},
         {"before": None, "after": code}, []),
    ]  # fmt: skip
    names = ("address", "balance", "nonce", "code", "storage")
    assert [tuple(account[name] for name in names) for account in accounts] == expected


def test_nonces_are_numbers_or_quantities(played):
    sides = {"pre": {"0x" + 40 * "1": {"nonce": 0}}, "post": {"0x" + 40 * "1": {"nonce": "0x1"}}}
    fault = faulty_node.replacing(conftest.is_trace, sides)
    with conftest.behind(played, fault) as (client, _):
        changes = answer_of(played, "fine", "state-changes", client)
    assert [a["nonce"] for a in changes["accounts"]] == [{"before": 0, "after": 1}]


def test_more_accounts_and_slots_than_are_shown_are_told(played):
    accounts = {f"0x{n:040x}": {"balance": "0x1"} for n in range(600)}
    accounts[f"0x{7:040x}"] = {"storage": {f"0x{n:064x}": "0x1" for n in range(1, 3001)}}
    fault = faulty_node.replacing(conftest.is_trace, {"pre": {}, "post": accounts})
    with conftest.behind(played, fault) as (client, _):
        changes = answer_of(played, "fine", "state-changes", client)
    assert (changes["accountCount"], changes["slotCount"]) == (600, 3000)
    assert len(changes["accounts"]) == 500 and changes["truncated"]
    assert sum(len(account["storage"]) for account in changes["accounts"]) == 2000
