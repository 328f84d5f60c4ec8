"""What a proxy was upgraded to, at the head of its page."""

import re
from pathlib import Path

from scan.contracts.known_proxies import IMPLEMENTATION_SLOT
from scan.extensions.logs import upgrades
from tests.support import page_checks
from tests.support.anvil import calldata
from tests.support.many_functions import deploy

UPGRADEABLE = Path(__file__).with_name("Upgradeable.sol").read_text()


def test_the_head_of_a_proxy_has_its_implementations_over_time(explorer, monkeypatch):
    """Newest first, each with the blocks of its use. Of many blocks with logs the newest are read,
    and a link leads to the rest."""
    many = explorer.place("5b00")
    proxy = deploy(explorer, UPGRADEABLE, "Upgradeable", f"{many[2:]:0>64}")
    other = explorer.place("00")
    explorer.send(proxy, calldata("upgradeTo(address)", other))
    implementations = [f"address/{other}", "block", f"address/{many}", "block", "block"]
    link = r'href="/(address/0x\w+|block|address/0x\w+\?tab=events)'
    assert named_in(explorer, proxy, link) == implementations
    monkeypatch.setattr(upgrades, "MOST_BLOCKS", 1)
    explorer.send(proxy, calldata("upgradeTo(address)", many))
    assert named_in(explorer, proxy, link) == [f"address/{many}", "block", f"address/{proxy}"]


def named_in(explorer, proxy, link):
    [line] = re.findall(r"<dt>Upgraded to</dt>.*", explorer.client.get(f"/address/{proxy}").text)
    return re.findall(link, line)


def test_what_its_events_alone_say_is_said_so(explorer):
    """The newest one is compared with what its code passes calls on to."""
    many, other = explorer.place("5b00"), explorer.place("5b5b00")
    proxy = deploy(explorer, UPGRADEABLE, "Upgradeable", f"{many[2:]:0>64}")
    path = f"/address/{proxy}?_="
    page = explorer.client.get(f"{path}1").text
    assert "Read from its code, the block from its events." in page
    explorer.send(proxy, calldata("upgradeTo(address)", other))
    page = explorer.client.get(f"{path}2").text
    assert "The newest is read from its code, older ones from its events." in page
    word = f"0x{many[2:]:0>64}"
    explorer.anvil.call("anvil_setStorageAt", proxy, f"{IMPLEMENTATION_SLOT}", word)
    explorer.send(proxy, "0x12345678")
    page = explorer.client.get(f"{path}3").text
    assert "Read from its events." in page


def test_earlier_upgrades_are_folded(page, explorer, explorer_url):
    """Seven of them do not fill the first screen of a phone."""
    proxy = deploy(explorer, UPGRADEABLE, "Upgradeable", f"{explorer.place('5b00')[2:]:0>64}")
    for _ in range(6):
        explorer.send(proxy, calldata("upgradeTo(address)", explorer.place("00")))
    page_checks.show_at(page, 360)
    page.open(f"{explorer_url}/address/{proxy}")
    row = "[...document.querySelectorAll('dt')].find(e => e.innerText === 'Upgraded to').parentNode"
    assert page.evaluate(f"{row}.offsetHeight") < 220
    assert "6 earlier upgrades" in page.evaluate(f"{row}.innerText")
    page.evaluate(f"{row}.querySelector('summary').click()")
    assert page.evaluate(f"{row}.innerText").count("from block") == 6
