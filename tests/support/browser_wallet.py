"""A wallet that announces itself to pages (EIP-6963); the test answers each of its requests."""

from pathlib import Path

WALLET = Path(__file__).with_suffix(".js").read_text()


def answer(page, method, result):
    """The wallet's next answer, to a request of this method."""
    page.wait("asked.length")
    assert page.evaluate("asked[0].method") == method
    page.evaluate(f"asked.shift().resolve({result})")


def connect(page, account, chain):
    answer(page, "eth_requestAccounts", f"['{account}']")
    answer(page, "eth_chainId", f"'{chain}'")
