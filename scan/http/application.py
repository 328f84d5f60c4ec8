"""Flask's application without what nothing here uses: its routes (which one a path has, its
methods, and which one is near), errors in the form of each interface, and files of a release, which
browsers cache for ever: their URLs contain a hash of the content."""

import difflib
import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

from flask import Flask, Request, Response, current_app, globals, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound, RequestEntityTooLarge
from werkzeug.routing import Map, Rule

from scan import errors
from scan.cached_values import cached_property
from scan.http import interfaces, request_state
from scan.http.current_request import reader
from scan.http.json_responses import JsonResponse
from scan.http.request_state import RequestState
from scan.server.responses import Environ, Headers, Kept

LEAST_LIKENESS = 0.7
LONGEST_PATH = 150  # comparing takes the product of both lengths

_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")


class Routes:
    """The routes of an application, all of which are there when the first one is looked for."""

    def __init__(self, rules: Map, views: Mapping[str, Callable[..., Any]]) -> None:
        self._rules = rules
        self._adapter = rules.bind("")
        self.views = views

    @cached_property
    def _fixed(self) -> Mapping[tuple[str, str], Rule]:
        """Those of paths without arguments, by path and method: matching takes 9 us."""
        return {
            (rule.rule, method): rule
            for rule in self._rules.iter_rules()
            if not rule.arguments
            for method in rule.methods or ()
        }

    def find(self, path: str, method: str) -> tuple[Rule, Mapping[str, Any]]:
        """Return the route and its arguments; raises HTTPException or RoutingException."""
        rule = self._fixed.get((path, method))
        if rule is not None:
            return rule, {}
        matched: tuple[Rule, Mapping[str, Any]]
        matched = self._adapter.match(path, method, return_rule=True)
        return matched

    def allowed_methods(self, path: str) -> Iterable[str]:
        return self._adapter.allowed_methods(path)

    def nearest(self, path: str, interface: interfaces.Interface) -> str | None:
        """Return the path that was probably meant by an unknown one, of its own interface, or of
        what is beside all of them, with its variables as :name; pages are for people, who follow
        links."""
        if len(path) > LONGEST_PATH:
            return None
        rules = self._rules.iter_rules()
        paths = [rule.rule for rule in rules if not rule.endpoint.startswith("pages_")]
        if interface is not interfaces.UNKNOWN:
            paths = [path for path in paths if interface.owns(path)]
        likenesses = ((_likeness(path, other), other) for other in paths)
        likeness, nearest = max(likenesses, default=(0.0, ""))
        return _VARIABLE.sub(r":\1", nearest) if likeness >= LEAST_LIKENESS else None


def _likeness(path: str, rule: str) -> float:
    """Return a likeness from 0 to 1; the prefix and the values of variables do not count."""
    segments = path.removeprefix(interfaces.API).rstrip("/").split("/")
    rule_segments = rule.removeprefix(interfaces.API).split("/")
    for index in range(1, min(len(segments), len(rule_segments))):
        if _VARIABLE.fullmatch(rule_segments[-index]):
            segments[-index] = rule_segments[-index] = ":"
    matcher = difflib.SequenceMatcher(None, "/".join(segments), "/".join(rule_segments))
    return matcher.ratio() if matcher.real_quick_ratio() >= LEAST_LIKENESS else 0.0


log = logging.getLogger(__name__)

OUR_FAULT = "Internal server error; it has been logged."


class Served:
    """What Flask's `current_app`, `request` and `g` read in the thread that serves a request; the
    latter two are made when they are first read, since few views of the API do."""

    rule: Rule | None = None
    arguments: Mapping[str, Any] = {}

    def __init__(self, app: Flask, environ: Environ) -> None:
        self.app = app
        self._environ = environ

    @cached_property
    def request(self) -> Request:
        request: Request = self.app.request_class(self._environ, populate_request=False)
        request.url_rule, request.view_args = self.rule, dict(self.arguments)
        return request

    @cached_property
    def g(self) -> object:
        return self.app.app_ctx_globals_class()


class Application(Flask):
    """Flask without what nothing here uses, which takes 60 us of a request: sessions, signals,
    functions before and after requests, routes by host."""

    @cached_property
    def routes(self) -> Routes:
        return Routes(self.url_map, self.view_functions)

    def answer(self, environ: Environ) -> tuple[str, Headers, Iterable[bytes]]:
        """Return the status, the headers and the body of a request's view, also of HEAD unless it
        is streamed, and note its route, by which requests are counted."""
        state: RequestState = environ[request_state.REQUEST_STATE]
        served: Any = Served(self, environ)
        app_token, token = globals._cv_app.set(served), globals._cv_request.set(served)
        state_token = request_state.begin_serving(state)
        try:
            try:
                path = state.page if state.is_open else state.path
                if not path.isascii():  # in WSGI each character of the text stands for a byte
                    path = path.encode("latin-1").decode("utf-8", "replace")
                served.rule, served.arguments = self.routes.find(path, environ["REQUEST_METHOD"])
                state.route = served.rule.rule
                response: Any = self.view_functions[served.rule.endpoint](**served.arguments)
            except Exception as error:
                response = self.handle_user_exception(error)
            if isinstance(response, JsonResponse):
                return response.status, [*response.headers.items()], (response.body,)
            made = self.make_response(response)
            if environ["REQUEST_METHOD"] == "HEAD" and not made.is_streamed:
                environ = {**environ, "REQUEST_METHOD": "GET"}  # of which it has the headers
            chunks, status, headers = made.get_wsgi_response(environ)
            return status, headers, chunks
        finally:
            request_state.end_serving(state_token)
            globals._cv_request.reset(token)
            globals._cv_app.reset(app_token)
            if "request" in vars(served):
                served.request.close()


def handle_errors(app: Flask) -> None:
    """Have the application answer errors in the form of the interface that was requested."""
    app.register_error_handler(errors.ScanError, _answer_error)
    app.register_error_handler(HTTPException, lambda error: _answer_error(_ours(error)))
    app.register_error_handler(Exception, _answer_bug)


def _answer_error(error: errors.ScanError) -> Response:
    """Answer in the form of the interface that was requested."""
    reader().do_not_cache()
    refusal = request_state.current_request().refuse(error)
    return Response(refusal.body, refusal.status, refusal.headers)


def _ours(error: HTTPException) -> errors.ScanError:
    """Return the framework's own refusal as one of ours."""
    if isinstance(error, NotFound):
        interface = request_state.current_request().interface
        if interface is not None and interface.unknown_path:
            return errors.NotFound(interface.unknown_path)
        routes = cast(Application, current_app).routes
        nearest = routes.nearest(request.path, interface or interfaces.UNKNOWN)
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


TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webp": "image/webp",
}


class StaticFile(NamedTuple):
    content: bytes
    version: str
    content_type: str

    def response(self, version: str) -> Response:
        """Return the file; with another version it is not cached: during an upgrade another
        instance may have rendered the page."""
        return self.cached(Kept.FOR_EVER if version == self.version else Kept.NEVER)

    def cached(self, cache_control: Kept) -> Response:
        headers = {"Cache-Control": cache_control}
        return Response(self.content, content_type=self.content_type, headers=headers)


def static_file(name: str, content: bytes) -> StaticFile:
    version = hashlib.sha256(content).hexdigest()[:12]
    return StaticFile(content, version, TYPES[Path(name).suffix])
