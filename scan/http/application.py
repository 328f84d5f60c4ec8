"""Flask's application without what nothing here uses, and errors in the form of each interface."""

import logging
from typing import Any, cast

from flask import Flask, Request, Response, current_app, request
from flask.ctx import RequestContext
from flask.globals import request_ctx
from flask.sessions import NullSession
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge
from werkzeug.routing import MapAdapter

from scan import errors
from scan.cached_values import cached_property
from scan.http.request_state import request_state_of
from scan.http.requests import reader
from scan.http.responses import JsonResponse
from scan.http.routing import MatchedRule, Routes
from scan.server.wsgi_responses import Environ

log = logging.getLogger(__name__)

OUR_FAULT = "Internal server error; it has been logged."


class Application(Flask):
    """Flask without what nothing here uses, which takes 50 us of a request: sessions, signals,
    functions before and after requests, routes by host."""

    url_rule_class = MatchedRule
    _no_session = NullSession()  # opening one for each request takes 20 us

    def request_context(self, environ: Environ) -> RequestContext:
        return RequestContext(self, environ, session=self._no_session)

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        """None: full_dispatch_request() finds the route."""
        return None

    @cached_property
    def routes(self) -> Routes:
        return Routes(self.url_map, self.view_functions)

    def full_dispatch_request(self) -> Response:
        """Notes the route, by which requests are counted."""
        current = request_ctx.request
        try:
            rule, arguments = self.routes.find(current.path, current.method)
            current.url_rule, current.view_args = rule, dict(arguments)
            request_state_of(current.environ).route = rule.rule
            response: Any = self.view_functions[rule.endpoint](**arguments)
        except Exception as error:
            response = self.handle_user_exception(error)
        # What Flask would make of another type runs the application that it is.
        is_ready = isinstance(response, JsonResponse)
        return cast(Response, response) if is_ready else self.make_response(response)

    def do_teardown_request(self, exc: BaseException | None = None) -> None:
        pass

    do_teardown_appcontext = do_teardown_request


def handle_errors(app: Flask) -> None:
    """Have the application answer errors in the form of the interface that was requested."""
    app.register_error_handler(errors.ScanError, _answer_error)
    app.register_error_handler(HTTPException, lambda error: _answer_error(_ours(error)))
    app.register_error_handler(Exception, _answer_bug)


def _answer_error(error: errors.ScanError) -> Response:
    """In the form of the interface that was asked."""
    reader().do_not_cache()
    refusal = request_state_of(request.environ).refuse(error)
    return Response(refusal.body, refusal.status, refusal.headers)


def _ours(error: HTTPException) -> errors.ScanError:
    """Return the framework's own refusal as one of ours."""
    if isinstance(error, NotFound):
        interface = request_state_of(request.environ).interface
        if interface is not None and interface.unknown_path:
            return errors.NotFound(interface.unknown_path)
        nearest = cast(Application, current_app).routes.nearest(request.path)
        advice = f"the nearest path is {nearest}" if nearest else "/docs/ lists all endpoints"
        return errors.NotFound(f"Not found; {advice}.")
    if isinstance(error, MethodNotAllowed):
        allow = ", ".join(sorted(error.valid_methods or ()))
        return errors.MethodNotAllowed(
            f"Method not allowed; this path accepts {allow}.",
            headers={"Allow": allow} if allow else None,
        )
    if isinstance(error, RequestEntityTooLarge):
        return errors.TooLarge(errors.TooLarge.of_body)
    if (error.code or 500) >= 500:
        return errors.ScanError(OUR_FAULT)
    ours = errors.InvalidParameter(error.description or "The request is malformed.")
    ours.status = error.code or 400
    return ours


def _answer_bug(error: Exception) -> Response:
    log.exception("%s %s failed", request.method, request.path)
    return _answer_error(errors.ScanError(OUR_FAULT))
