"""Approvals revoked through the page, several in a row, by the wallet of their owner alone."""

from tests.support.browser_wallet import WALLET, connect


def test_a_wallet_revokes_approvals_one_after_the_other(page, explorer, explorer_url):
    anvil = explorer.anvil
    owner, stranger, *spenders = anvil.accounts[4:8]
    coin = anvil.deploy(owner, "Coin", "Coin", "COIN", 6)
    keepers = anvil.deploy(owner, "Collectible", "Keepers", "KEEP")
    for spender in spenders:
        anvil.transact(owner, coin, "approve", spender, 50)
    anvil.transact(owner, keepers, "setApprovalForAll", spenders[0], True)
    hostile = anvil.deploy(stranger, "LooseToken", "Free coins", "FREE")
    anvil.transact(stranger, hostile, "allow", owner, spenders[0], 50)
    anvil.mine()
    explorer.wait_for_block(anvil.head())

    page.before_scripts(WALLET)
    page.open(f"{explorer_url}/address/{owner}?tab=approvals")
    page.wait("!document.querySelector('button.revoke-all').disabled")
    page.evaluate("document.querySelector('button.revoke-all').click()")
    connect(page, stranger, anvil.call("eth_chainId"))
    page.wait("document.querySelector('#approvals .problem')")
    assert "only" in page.text("#approvals .problem")
    assert page.evaluate("asked.length") == 0  # the others are not tried

    page.evaluate("document.querySelector('button.revoke-all').click()")
    for _ in range(3):
        connect(page, owner, anvil.call("eth_chainId"))
        page.wait("asked.length")
        assert page.evaluate("asked[0].method") == "eth_sendTransaction"
        transaction = page.evaluate("asked[0].params[0]")
        assert (transaction["from"], transaction["value"]) == (owner, "0x0")
        shown = page.text("#approvals")
        assert f"The call of {transaction['to']}: {transaction['data']}" in shown
        sent = anvil.call("eth_sendTransaction", {**transaction, "gas": hex(200_000)})
        assert anvil.receipt_of(sent)["status"] == "0x1"
        page.evaluate(f"asked.shift().resolve('{sent}')")
    assert [anvil.read(coin, "allowance", owner, to) for to in spenders] == [0, 0]
    assert not anvil.read(keepers, "isApprovedForAll", owner, spenders[0])
    explorer.wait_for_block(anvil.head())
    [left] = explorer.get(f"/api/v1/addresses/{owner}/approvals")["approvals"]
    assert (left["tokenAddress"], left["approvedBy"]) == (hostile.address, stranger)
    assert not page.errors
