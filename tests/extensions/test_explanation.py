"""What the history says of an account whose coin a chain moves in a way that no block tells."""

from scan.extensions.chains.collected_fees import GNOSIS
from tests.support.anvil import Anvil
from tests.support.faulty_node import FaultyNode, no_development
from tests.support.indexing import Indexing


def test_a_balance_that_no_block_explains_is_explained_by_the_chain(postgres, template):
    """By anvil with the id of Gnosis, whose collector lacks the base fees that anvil burns; it does
    not say what it is."""
    collector = "0x6bbe78ee9e474842dbd4ab4987b3cefe88426a92"
    with (
        Anvil("--chain-id", "100") as node,
        FaultyNode(node.url, no_development) as of_gnosis,
        postgres.cloned(template) as url,
    ):
        sender = node.accounts[0]
        node.send(sender, node.accounts[1], value=7)
        node.mine()
        client = Indexing(url, of_gnosis.url).run_until(node.head()).client()
        page = client.get(f"/api/v1/addresses/{collector}/history").json
        assert (page["complete"], page["reason"]) == (False, "unexplained_balance")
        assert page["explanation"] == GNOSIS.unseen
        explained = client.get(f"/api/v1/addresses/{sender}/history").json
        assert explained["complete"] is True
        assert "explanation" not in explained
