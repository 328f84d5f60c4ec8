"""A service that asks gateways of names."""

import ipaddress
import json
from dataclasses import replace

import pytest
from eth_abi import encode

from app import create_app
from scan.extensions.names import gateways, name_services
from scan.extensions.names.settings import Settings
from scan.extensions.names.tests.names_of_chain import Named
from tests.support.faulty_node import FaultyNode
from tests.support.receiver import Answer

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


def answer_with(value):
    return Answer(200, (), json.dumps({"data": f"0x{value.hex()}"}).encode())


def says(address):
    return lambda *_: answer_with(encode(["address"], [address]))


@pytest.fixture(params=[*name_services.Interface])
def asking(request, ens, indexing, authority, monkeypatch):
    """The service that asks gateways, and may reach those of this machine."""
    monkeypatch.setattr(gateways, "ALLOWED", LOOPBACK)
    with FaultyNode(ens.anvil.url) as node:
        yield asking_with(request.param, ens, indexing, node, authority)


def asking_with(interface, ens, indexing, node, authority):
    contract = ens.universal if interface is name_services.Interface.UNIVERSAL else ens.registry
    service = name_services.NameService(interface, bytes.fromhex(contract.address[2:]))
    settings = replace(
        indexing.settings,
        rpc_urls=(node.url,),
        ca_bundle=str(authority.bundle),
        of_extensions={Settings: Settings(name_services.Choice(service, True))},
    )
    return Named(ens, indexing, node, create_app(settings).test_client())
