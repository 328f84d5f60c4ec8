"""What lives as long as the process: the names that it knows."""

from scan.ethereum.client import Node
from scan.ethereum.request_node import NodeGateway
from scan.extensions.names import gateways
from scan.extensions.names.gateways import Gateways
from scan.extensions.names.primary_names import Names
from scan.extensions.names.settings import Settings
from scan.http.hooks import Service
from scan.http.request_state import Services
from scan.outbound.connection import AttemptTimeouts, tls_context
from scan.outbound.document_fetcher import DocumentFetcher
from scan.queries.addresses import AddressNames


def service(core: Services) -> Names:
    own, ca_bundle = core.settings.of(Settings), core.settings.ca_bundle
    hosts = l1 = None
    if own.choice.asks_gateways:
        timeouts = AttemptTimeouts(total_s=gateways.TOTAL_S, connect_s=gateways.CONNECT_S)
        hosts = Gateways(DocumentFetcher(tls_context(ca_bundle), timeouts), gateways.ALLOWED)
    if own.l1_urls:
        l1 = NodeGateway(Node(own.l1_urls, ca_bundle=ca_bundle), core.waiting_threads)
    return Names(own, hosts, l1)


HOOKS = Service(make=service, base=AddressNames)
