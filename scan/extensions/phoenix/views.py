"""/socket/v2/websocket: the handshake of Phoenix's clients, and the sockets of a process."""

from collections.abc import Sequence
from functools import partial

from flask import Blueprint, Flask, Response, request

from scan.errors import InvalidParameter
from scan.extensions.blockscout.paths import refuse
from scan.extensions.phoenix.broadcaster import Sockets
from scan.extensions.phoenix.channels import SocketResponse
from scan.http import hooks
from scan.http.current_request import client_address, reader
from scan.http.interfaces import Interface
from scan.server.responses import OPEN_RESPONSE
from scan.settings import Settings

PREFIX = "/socket/"
PATH = f"{PREFIX}v2/websocket"
VERSION = "2.0.0"  # of the messages, as clients name it


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    blueprint = Blueprint("blockscout_phoenix", __name__)

    @blueprint.get(PATH)
    def open_socket() -> Response:
        """Raises InvalidParameter for what is no handshake, RateLimited, Unavailable."""
        reader().do_not_cache()
        if request.args.get("vsn") != VERSION:
            raise InvalidParameter(f"vsn must be {VERSION}.", field="vsn")
        socket = reader().sources.get(Sockets).open(client_address(), app)
        try:
            accepted = socket.accept(request.environ)
        except InvalidParameter:
            socket.close()
            raise
        response = Response(status=101)
        response.call_on_close(socket.close_unless_attached)
        request.environ[OPEN_RESPONSE] = partial(SocketResponse, stream=socket, accepted=accepted)
        return response

    app.register_blueprint(blueprint)
    return (Interface(refuse, prefixes=(PREFIX,), has_page_limit=True),)


HOOKS = (hooks.Interfaces(register=register), hooks.Service(make=Sockets))
