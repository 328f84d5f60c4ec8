"""What the API and pages say of names on a chain."""

from collections import namedtuple

import pytest

from scan.extensions.names.name_services import Interface, NameService
from scan.extensions.names.settings import Settings
from tests.support import extension_tests, serving
from tests.support.lists import get

HAS_SEARCH = extension_tests.is_there("scan.extensions.search")
with_search = pytest.mark.skipif(not HAS_SEARCH, reason="the extension search is not there")


class Named(namedtuple("Named", "ens indexing node client")):
    def follow(self):
        """Until the index has what was mined, and the service has noticed it: until then it serves
        the responses of before."""
        head = self.ens.anvil.head()
        self.indexing.wait_for(head)
        newest = "/api/v1/blocks?limit=1"
        serving.wait_until(lambda: self.client.get(newest).json["blocks"][0]["number"] >= head)

    def mine(self):
        self.ens.anvil.mine()
        self.follow()

    def of(self, address):
        """The name in an address's record, and why there is none."""
        record = get(self.client, f"/addresses/{address}")
        return record["name"], record["nameProblem"]

    def lookup(self, name):
        return self.client.get(f"/api/v1/names/{name}")

    def page(self, path):
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text

    def search(self, text):
        results = get(self.client, "/search", q=text)["results"]
        return [result for result in results if result["type"] == "name"]


def service_of(interface, ens):
    contract = ens.universal if interface is Interface.UNIVERSAL else ens.registry
    return NameService(interface, bytes.fromhex(contract.address[2:]))


def served(ens, indexing, node, choice, l1_urls=(), **settings):
    """Of an index, with a node that may fail, by names of that choice."""
    of_names = {Settings: Settings(choice, l1_urls)}
    settings |= {"rpc_urls": (node.url,), "of_extensions": of_names}
    return Named(ens, indexing, node, indexing.client(**settings))
