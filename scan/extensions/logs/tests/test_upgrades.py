"""What a proxy was upgraded to, at the head of its page."""

import re
from pathlib import Path

from scan.extensions.logs import upgrades
from tests.support import anvil, many_functions


def test_the_head_of_a_proxy_has_its_implementations_over_time(explorer, monkeypatch):
    """Newest first, each with the blocks of its use. Of many blocks with logs the newest are read,
    and a link leads to the rest."""
    many = explorer.place("5b00")
    upgradeable = Path(__file__).with_name("Upgradeable.sol").read_text()
    proxy = many_functions.deploy(explorer, upgradeable, "Upgradeable", f"{many[2:]:0>64}")
    other = explorer.place("00")
    explorer.send(proxy, anvil.calldata("upgradeTo(address)", other))
    implementations = [f"address/{other}", "block", f"address/{many}", "block", "block"]

    def upgraded_to():
        [line] = re.findall(r"<dt>Upgraded to</dt>.*", explorer.get(f"/address/{proxy}"))
        return re.findall(r'href="/(address/0x\w+|block|address/0x\w+\?tab=events)', line)

    assert upgraded_to() == implementations
    monkeypatch.setattr(upgrades, "MOST_BLOCKS", 1)
    explorer.send(proxy, anvil.calldata("upgradeTo(address)", many))
    assert upgraded_to() == [f"address/{many}", "block", f"address/{proxy}"]
