"""GET /api/v1/names/:name, and the name at the head of an address's page."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.errors import InvalidParameter, NotFound, Unavailable, UpstreamFailed
from scan.ethereum.client import Node
from scan.ethereum.request_node import NodeGateway
from scan.extensions.names import gateways, node_names, normalization, primary_names, settings
from scan.extensions.names.gateways import Gateways
from scan.hex import to_hex
from scan.http import hooks
from scan.http.current_request import query_arguments, reader
from scan.http.json_responses import Response, json_value
from scan.http.prerequisites import Prerequisite, requires
from scan.http.services import Services
from scan.outbound.http_client import AttemptTimeouts, HttpClient, tls_context
from scan.pages.hooks import AddressSection, Pages, Shown
from scan.queries.addresses import Address, AddressName, AddressNames

NO_SERVICE = "No name service is known on this chain (SCAN_NAMES)."
NOT_ASKED = "Other hosts keep this name (EIP-3668), and this server does not ask them."
NO_ANSWER = "Other hosts keep this name (EIP-3668), and gave no valid answer."
UNREAD = "The node did not say which address this name has; try again shortly."

blueprint = Blueprint("names", __name__)


@blueprint.get("/names/<name>")
@requires(Prerequisite.NODE)
def get_name(name: str) -> Response:
    query_arguments()
    names = reader().sources.get(primary_names.Names)
    service = names.service(reader())
    if service is None:
        raise NotFound(NO_SERVICE)
    try:
        resolved = names.resolve(reader(), service, name)
    except normalization.NotNormalizable as error:
        message = f"This is not a valid name (ENSIP-15): {error}."
        raise InvalidParameter(message, field="name") from None
    except normalization.NotChecked as error:
        raise Unavailable(f"The name was not looked up: {error}.") from None
    if resolved.problem is node_names.Problem.UNREAD:
        raise UpstreamFailed(UNREAD)
    if resolved.address is None:
        off_chain = NO_ANSWER if names.asks_gateways else NOT_ASKED
        is_off_chain = resolved.problem is node_names.Problem.OFF_CHAIN
        raise NotFound(off_chain if is_off_chain else "This name has no address.", field="name")
    claims = names.primary(reader(), [resolved.address])
    primary = claims.get(resolved.address, AddressName())
    record = {
        "name": resolved.name,
        "address": to_hex(resolved.address),
        "primaryName": primary.name,
        "primaryNameProblem": primary.problem,
        "coinType": resolved.coin_type,
        "blockNumber": resolved.block,
        "unproven": ("address", "primaryName"),
    }
    return json_value(record)


def names_of_settings(core: Services) -> primary_names.Names:
    choices, ca_bundle = core.settings.of(settings.Settings), core.settings.ca_bundle
    hosts = l1 = None
    if choices.choice.asks_gateways:
        timeouts = AttemptTimeouts(total_s=gateways.TOTAL_S, connect_s=gateways.CONNECT_S)
        hosts = Gateways(HttpClient(tls_context(ca_bundle), timeouts), gateways.ALLOWED)
    if choices.l1_urls:
        l1 = NodeGateway(Node(choices.l1_urls, ca_bundle=ca_bundle), core.waiting_threads)
    return primary_names.Names(choices, hosts, l1)


def primary_name(key: bytes, _account: Address) -> Shown:
    """Return the values of primary_name.html."""
    names = reader().sources.get(primary_names.Names)
    primary = names.primary(reader(), [key])
    return Shown({"primary": primary.get(key, AddressName())})


HOOKS = (
    Api(blueprints=(blueprint,)),
    Pages(sections=(AddressSection({"address": "primary_name.html"}, primary_name),)),
    hooks.Service(make=names_of_settings, base=AddressNames),
)
