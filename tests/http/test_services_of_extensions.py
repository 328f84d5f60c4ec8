"""Services that extensions keep: one of each type, with all methods of the base it is known by."""

from dataclasses import replace

import pytest

from scan.queries.addresses import AddressNames
from scan.queries.reader import Reader


class ByAddress(AddressNames):
    def of_addresses(self, reader, addresses):
        return {}

    def in_list(self, reader, addresses):
        return dict.fromkeys(addresses, "a name")


class Misspelt(AddressNames):
    def of_addresses(self, reader, addresses):
        return {}

    def in_lists(self, reader, addresses):
        return {}


@pytest.fixture
def sources(client):
    return replace(client.application.extensions["scan"].sources, of_extensions={})


def test_a_service_is_known_by_its_type_and_its_base(sources):
    service = ByAddress()
    sources.keep(service, AddressNames)
    assert sources.get(ByAddress) is sources.get(AddressNames) is service


def test_without_an_extension_the_base_answers(sources):
    names, reader = sources.get(AddressNames), Reader(sources, "a")
    assert names.of_addresses(reader, [b"a"]) is None
    assert names.in_list(reader, [b"a"]) == {}


def test_a_method_that_the_service_lacks_is_named(sources):
    with pytest.raises(TypeError, match=r"Misspelt has no in_list\(\) of its own"):
        sources.keep(Misspelt(), AddressNames)


def test_what_was_read_before_is_not_replaced(sources):
    sources.get(AddressNames)
    with pytest.raises(TypeError, match="AddressNames"):
        sources.keep(ByAddress(), AddressNames)
