"""The site: renders templates with the values that every page shows, such as the chain's name, and
knows the paths of pages by the rules of the application's views. Its styles, scripts and icons are
cached by browsers: their URLs contain a content hash."""

import re
import threading
from collections.abc import Callable, Iterable
from functools import cache
from http import HTTPStatus
from inspect import isfunction
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from flask import Blueprint, Flask, Response, current_app, request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from scan import VERSION, registry
from scan.errors import InvalidParameter, NotFound, ScanError
from scan.ethereum.checksums import checksummed
from scan.hex import to_hex
from scan.http import current_request, list_formats, services
from scan.http.application import TYPES, StaticFile, static_file
from scan.http.index_version import NOT_READ, IndexedBlock, Position
from scan.http.interfaces import Interface, SameOrigin
from scan.http.prerequisites import Mark, paths_marked
from scan.pages import cells, formatting, hooks, records
from scan.queries import network, reader, tokens, transactions
from scan.server.responses import Kept, WsgiResponse
from scan.settings import UNBRANDED, Brand, Settings

FOLDER = Path(__file__).with_name("static")
PREFIX = "/static"
ICON = "icon.svg"
PREVIEW = "preview.png"  # the icon for previews of links, which show no SVG
FAVICON = "/favicon.ico"  # which browsers request for a response that is no page
BRAND_STYLES = "brand.css"
# An SVG file that is opened by itself is a document: nothing in it runs or is loaded.
DRAWING_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"

blueprint = Blueprint("pages_static", __name__)


@cache
def files(brand: Brand) -> dict[str, StaticFile]:
    """Return the files of this release, of extensions and of the operator by name."""
    folders = (FOLDER, *registry.folders("static", of_enabled=True))
    paths = (path for folder in folders for path in folder.iterdir() if path.suffix in TYPES)
    contents = {path.name: path.read_bytes() for path in paths}
    if brand.logo is not None:
        contents[brand.logo.name] = brand.logo.content
    if brand.css:
        contents[BRAND_STYLES] = brand.css.encode()
    return {name: static_file(name, content) for name, content in contents.items()}


def icon_of(brand: Brand) -> str:
    return ICON if brand.logo is None else brand.logo.name


def url_of(name: str, brand: Brand = UNBRANDED) -> str:
    return f"{PREFIX}/{files(brand)[name].version}/{name}"


def paths(brand: Brand) -> frozenset[str]:
    """Return the paths of all static files."""
    return frozenset({FAVICON, *(url_of(name, brand) for name in files(brand))})


@blueprint.get(f"{PREFIX}/<version>/<name>")
def file_of_version(version: str, name: str) -> Response:
    file = files(services.services().settings.brand).get(name)
    if file is None:
        raise NotFound("File not found.")
    return _confined(file.response(version))


@blueprint.get(FAVICON)
def favicon() -> Response:
    brand = services.services().settings.brand
    return _confined(files(brand)[icon_of(brand)].cached(Kept.A_DAY))


def _confined(response: Response) -> Response:
    if response.content_type == TYPES[".svg"]:
        response.headers["Content-Security-Policy"] = DRAWING_POLICY
    return response


class PagePaths(NamedTuple):
    """`single` are of one page each, `prefixes` begin the paths of pages for one of many things,
    and to `with_token` any site may send a form."""

    single: frozenset[str]
    prefixes: frozenset[str]
    with_token: frozenset[str]

    def has(self, path: str) -> bool:
        return path in self.single or path in self.prefixes


def page_paths(app: Flask, blueprints: Iterable[Blueprint]) -> PagePaths:
    """Return the paths of the pages of an application, which are those of `blueprints`."""
    names = {blueprint.name for blueprint in blueprints}
    rules = (r for r in app.url_map.iter_rules() if r.endpoint.partition(".")[0] in names)
    parts = [rule.rule.partition("<") for rule in rules]
    return PagePaths(
        frozenset(path.rstrip("/") for path, argument, _ in parts if not argument),
        frozenset(path.rstrip("/") for path, argument, _ in parts if argument),
        paths_marked(Mark.NEEDS_TOKEN, app.url_map, app.view_functions),
    )


# Every template has their macros by these names, and these files those of the files before them.
MACROS = {"m": "macros.html", "p": "prices.html", "t": "tables.html", "f": "filters.html"}
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HTML = "text/html; charset=utf-8"
HEADERS = (
    ("Content-Type", HTML),
    ("Content-Security-Policy", POLICY),
    ("Referrer-Policy", "same-origin"),
)


ERROR_TITLES = {
    400: "Invalid request",
    403: "Refused",
    404: "Not found",
    422: "Request failed",
    429: "Too many requests",
}


class _Reported(threading.local):
    """What the node reports of the page that the thread renders: its names, in their order."""

    names: dict[str, None]


_reported = _Reported()
_CAPITAL = re.compile(r"(?<=[a-z])([A-Z])")
# Fields whose names are no words of a page.
_WORDS = {
    "dex": "DEX",
    "miner": "fee recipient",
    "ownerCount": "number of owners",
    "token0": "tokens of the pool",
    "token1": "tokens of the pool",
    "total": "length of the list",
    "txCount": "number of transactions",
}


def _note_reported(name: str) -> str:
    words = _WORDS.get(name) or _CAPITAL.sub(lambda letter: f" {letter[1].lower()}", name)
    _reported.names[words] = None
    return ""


class Chain(NamedTuple):
    id: str | None  # None before the first block
    name: str
    symbol: str
    first_block: int = 0  # at which the index begins

    @property
    def has_named_coin(self) -> bool:
        return self.symbol != network.UNNAMED

    def standard(self, token_type: str) -> str:
        return tokens.token_standard(token_type, self.id)


class Site:
    """Renders pages with the chain's name and the coin's symbol."""

    def __init__(
        self,
        settings: Settings,
        paths: PagePaths,
        sources: reader.Sources,
        indexed_block: IndexedBlock,
    ) -> None:
        self.indexed_block = indexed_block
        self._settings = settings
        self._paths = paths
        self._sources = sources
        # Matches templates' markup alone: quotes in values are escaped. Links to logos have the
        # base path already. Without a base path nothing is to be replaced, which takes 1 ms a page.
        base_path = re.escape(f"{settings.base_path.lstrip('/')}/")
        self._local_link = re.compile(rf'\b(href|src|action)="/(?!{base_path})')
        self._templates = templates()
        self._templates.globals["has_page"] = paths.has
        for name, file in MACROS.items():
            self._templates.globals[name] = self._templates.get_template(file).make_module()
        brand = settings.brand
        preview = PREVIEW if brand.logo is None else brand.logo.name
        # Values, not globals of the templates: applications of one process share those.
        self._of_settings = {
            "can_sign_out": settings.needs_key,
            "wallets_make_keys": settings.wallets_make_keys,
            "brand": brand,
            "brand_styles": url_of(BRAND_STYLES, brand) if brand.css else None,
            "icon": url_of(icon_of(brand), brand),
            "url_of": {name: url_of(name, brand) for name in files(brand)}.__getitem__,
            "site_url": f"{brand.url}{settings.base_path}" if brand.url else "",
            "preview": None if preview.endswith(".svg") else url_of(preview, brand),
        }

    def interface(self) -> Interface:
        return Interface(
            self.refuse,
            paths=self._paths.single,
            prefixes=tuple(f"{prefix}/" for prefix in self._paths.prefixes),
            same_origin=SameOrigin(self._settings, self._paths.with_token),
            has_page_limit=True,
            free_from_cache=frozenset(("/live",)),
            unknown_path="There is no page at this address.",
        )

    def chain(self) -> Chain:
        """Return the chain; the database is read until its id is known."""
        self._sources.chain_id.read()
        self._sources.first_block.read()
        return self._chain()

    def render(
        self,
        template: str,
        chain: Chain,
        path: str = "",
        *,
        newest: Position,
        reported: Iterable[str] = (),
        **values: Any,
    ) -> str:
        """Return a template as HTML; `path` is the page's, for previews of links to it, `newest`
        the position that it shows, and `reported` what of its list the node reports."""
        are_all_stored = bool(values.get("are_all_stored"))
        readers = [pages.feeds for pages in registry.parts(hooks.Pages) if pages.feeds is not None]
        feeds = [feed for read in readers for feed in read(path.lower(), are_all_stored)]
        of_page = {"chain": chain, "path": path, "newest": newest, "feeds": feeds}
        _reported.names = {}
        for name in sorted(reported):
            _note_reported(name.replace(".", " "))
        text = self._templates.get_template(template).render(of_page | self._of_settings | values)
        base_path = self._settings.base_path
        return self._local_link.sub(rf'\1="{base_path}/', text) if base_path else text

    def refuse(self, error: ScanError) -> WsgiResponse:
        """Return an error as a page, rendered without the database. Programs get errors of unknown
        paths as JSON."""
        other = "Invalid request" if error.status < 500 else "Temporarily unavailable"
        title = ERROR_TITLES.get(error.status, other)
        body = self.render_known("error.html", error=error, title=title).encode()
        of_body = {"Content-Length": str(len(body)), "Vary": "Accept"}
        headers = {**dict(HEADERS), **of_body, **error.headers}
        status = f"{error.status} {HTTPStatus(error.status).phrase}"
        return WsgiResponse(status, [*headers.items()], body)

    def render_known(self, template: str, **values: Any) -> str:
        """Return a template as HTML, with what is known of the chain without the database; of no
        block, since the newest one that was read may be old by now."""
        return self.render(template, self._chain(), newest=NOT_READ, **values)

    def _chain(self) -> Chain:
        chain_id = self._sources.chain_id.known
        configured = self._settings.chain_name
        name = configured if chain_id is None else network.name_of(chain_id, configured)
        symbol = network.symbol_of(chain_id, self._settings.coin_symbol)
        return Chain(chain_id, name, symbol, self._sources.first_block.known or 0)


def site() -> Site:
    return cast(Site, current_app.extensions["scan.pages"])


def documentation_page(head: Markup, body: Markup) -> str:
    """Return the documentation of the API as a page, which is served while the database is not."""
    return site().render_known("documentation.html", head=head, body=body)


def page(template: str, status_code: int = 200, **values: Any) -> Response:
    """Return a template as a response; raises InvalidParameter for a requested tab where the values
    have none."""
    if "tab" not in values and request.args.get("tab", "index") not in records.OTHER_TABS:
        raise InvalidParameter("This page has no tabs: leave out tab.", field="tab")
    path = quote(request.path) if status_code == HTTPStatus.OK else ""
    newest = site().indexed_block.position_of(current_request.reader().versions)
    current_request.reader().staleness = newest.staleness
    reported = current_request.reader().reported
    body = site().render(template, site().chain(), path, newest=newest, reported=reported, **values)
    return Response(body, status_code, headers=HEADERS)


def _marked(cell: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *args, **kwargs: Markup(cell(*args, **kwargs))


@cache
def templates() -> Environment:
    """Return the templates with StrictUndefined: a misspelled name in a template is an error,
    not an empty string."""
    environment = Environment(
        loader=FileSystemLoader([FOLDER.with_name("templates"), *registry.folders("templates")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    # The templates of sections that extensions add to a page, by the page's name, or to the count
    # of each list.
    places = """
        address address_balance code_hash block block_facts home list live status
        transaction transaction_call transaction_end transaction_events transaction_facts
    """
    sections: dict[str, list[str]] = {place: [] for place in places.split()}
    for section in hooks.sections_of(hooks.Section):
        for place, section_template in section.templates.items():
            sections[place].append(section_template)
    links = [link for pages in registry.parts(hooks.Pages) for link in pages.menu]
    environment.globals |= {
        "version": VERSION,
        "most_file_rows": list_formats.MAX_FILE_ROWS if list_formats.has_files() else 0,
        "shown_value": records.shown_value,
        "listed_values": records.listed_values,
        "suggestions": records.suggestions,
        "cells": {name: _marked(cell) for name, cell in vars(cells).items() if isfunction(cell)},
        "sections": sections,
        "menu_of_extensions": lambda title: [link[1:] for link in links if link[0] == title],
        "note_reported": _note_reported,
        "reported_here": lambda: [*_reported.names],
    }
    environment.tests["contract_creation"] = transactions.creates_contract
    environment.tests["unlimited_approval"] = formatting.is_unlimited
    names = """
        grouped counted amount short_amount fitted
        short_address checksummed_text gwei percent short_price pair_name
        exchange_name worth coin_worth day_time visible sentence
        visible_block as_json short_name short_id token_name word text_in powers
    """
    environment.filters |= {
        **{name: getattr(formatting, name) for name in names.split()},
        "blank": formatting.is_blank,
        "checksummed": checksummed,
        "priced": tokens.priced,
        "hex": to_hex,
    }
    return environment
