"""GET /api/v1/contracts/:address/permissions."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.permissions import queries
from scan.http.prerequisites import Prerequisite, requires
from scan.http.requests import query_arguments, reader
from scan.http.responses import Response, json_value

blueprint = Blueprint("permissions", __name__)


@blueprint.get("/contracts/<address>/permissions")
@requires(Prerequisite.NODE)
def get_permissions(address: str) -> Response:
    query_arguments()
    permissions = queries.of(reader(), parameters.address(address))
    return json_value(permissions.record())


HOOKS = Api(blueprints=(blueprint,))
