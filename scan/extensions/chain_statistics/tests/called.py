"""Contracts called in a time, by the node's transactions."""

from collections import Counter
from datetime import datetime, timedelta


def counted(scenario, truth, seconds):
    """{address: (transactions, gas)} of contracts called in a time before the newest block."""
    node = scenario.anvil
    since = datetime.fromisoformat(truth.blocks[0]["timestamp"]) - timedelta(seconds=seconds)
    calls, gas = Counter(), Counter()
    for sent in truth.transactions:
        is_newer = datetime.fromisoformat(sent["timestamp"]) >= since
        if is_newer and sent["toAddress"] is not None:
            calls[sent["toAddress"]] += 1
            gas[sent["toAddress"]] += int(sent["gasUsed"])
    codes = {called: node.call("eth_getCode", called, "latest") for called in calls}
    return {
        called: (calls[called], gas[called])
        for called, code in codes.items()
        if code != "0x" and not code.startswith("0xef0100")  # a delegating account (EIP-7702)
    }
