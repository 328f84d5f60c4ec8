"""The WSGI application: create_app() puts the parts together."""

import sys
from collections.abc import Sequence
from typing import NamedTuple, cast

from flask import Blueprint, Flask

from scan import registry
from scan.api import (
    addresses_and_tokens,
    blocks_and_transactions,
    contracts,
    health,
    keys_and_webhooks,
)
from scan.api import query as query_api
from scan.api.hooks import Api
from scan.api.openapi import documentation
from scan.database.connection import Database
from scan.http import access, credentials_and_limits
from scan.http.application import Application, handle_errors
from scan.http.credentials_and_limits import RateLimit
from scan.http.hooks import Interfaces
from scan.http.index_version import IndexedBlock, IndexVersion
from scan.http.interfaces import REST, Interface
from scan.http.middleware import Middleware
from scan.http.prerequisites import Mark, paths_marked
from scan.http.process_services import make_services
from scan.http.request_bodies import USUAL_BODY_BYTES
from scan.http.services import Services, connect
from scan.pages import addresses_and_tokens as address_pages
from scan.pages import blocks_and_transactions as block_pages
from scan.pages import home, sign_in
from scan.pages import site as static_files
from scan.pages.hooks import Pages
from scan.pages.site import PagePaths, Site, documentation_page, page_paths
from scan.rate_limits.limiter import counts_in_process
from scan.settings import Settings

RECURSION_LIMIT = 1000
BLUEPRINTS = (
    blocks_and_transactions,
    addresses_and_tokens,
    contracts,
    query_api,
    keys_and_webhooks,
)
PAGES = (home, block_pages, address_pages)
SERVICE_PATHS = ("/healthz", "/readyz")  # outside the version and the rate limits


def create_app(settings: Settings | None = None) -> Flask:
    """Everything a worker process serves; raises SettingError for a malformed environment."""
    settings = settings or Settings.from_environment()
    # Where eth-account is imported, its py_ecc sets 100,000: nested JSON would end the process.
    sys.setrecursionlimit(RECURSION_LIMIT)
    app = Application("scan", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = USUAL_BODY_BYTES
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # it would answer with an HTML redirect
    writes = connect(settings, settings.database_url)
    reads = connect(settings, settings.read_database_url) if settings.reads_replica else writes
    interfaces = _add_routes(app, settings)
    paths = page_paths(app, _page_blueprints()) if settings.pages else None
    app.extensions["scan.permanent"] = Permanent(settings, writes, reads, interfaces, paths)
    renew(app)
    return app


class Permanent(NamedTuple):
    """What an application keeps when it is renewed: nothing here depends on what was served.
    `reads` is the same as `writes`, unless a replica is read."""

    settings: Settings
    writes: Database
    reads: Database
    interfaces: Sequence[Interface]
    page_paths: PagePaths | None


def renew(app: Flask) -> None:
    """Give an application the state of a process that has just started: everything that it learns
    while it serves, such as cached responses and rate-limit windows, is an object made here."""
    permanent: Permanent = app.extensions["scan.permanent"]
    services = make_services(permanent.settings, permanent.writes, permanent.reads)
    app.extensions["scan"] = services
    index_version = IndexVersion(services.version_listener())
    indexed_block = IndexedBlock(services.reads, index_version, services.waiting_threads)
    paths = permanent.page_paths
    app.extensions["scan.pages"] = (
        None if paths is None else Site(permanent.settings, paths, services.sources, indexed_block)
    )
    app.wsgi_app = _middleware(app, permanent, indexed_block)  # type: ignore[method-assign]


def _add_routes(app: Flask, settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(health.blueprint)
    app.register_blueprint(static_files.blueprint if settings.pages else health.root_blueprint)
    for page in _page_blueprints() if settings.pages else ():
        app.register_blueprint(page)
    if settings.pages and settings.needs_key:
        app.register_blueprint(sign_in.blueprint)
    of_extensions = [blueprint for part in registry.parts(Api) for blueprint in part.blueprints]
    for blueprint in (*(module.blueprint for module in BLUEPRINTS), *of_extensions):
        app.register_blueprint(blueprint, url_prefix="/api/v1")
    in_page = documentation_page if settings.pages else None
    documentation.add_routes(app, settings.base_path, in_page, needs_key=settings.needs_key)
    handle_errors(app)
    return [i for part in registry.parts(Interfaces) for i in part.register(app, settings)]


def _page_blueprints() -> list[Blueprint]:
    of_extensions = [page for pages in registry.parts(Pages) for page in pages.blueprints]
    return [*(module.blueprint for module in PAGES), *of_extensions]


def _middleware(app: Flask, permanent: Permanent, indexed_block: IndexedBlock) -> Middleware:
    services: Services = app.extensions["scan"]
    settings = services.settings
    site: Site | None = app.extensions["scan.pages"]
    of_pages = [] if site is None else [site.interface()]
    pages = of_pages[0] if of_pages else None
    if pages is not None and settings.needs_key:
        of_pages.insert(0, sign_in.interface(settings))
    rate_limit = RateLimit(
        services.limiter,
        services.key_lookup,
        services.key_usage,
        is_one_of_several=settings.trusted_proxies > 0 and counts_in_process(settings),
        serves_own_machine=credentials_and_limits.serves_own_machine(settings),
    )
    return Middleware(
        cast(Application, app),
        services,
        rate_limit,
        indexed_block,
        (REST, *permanent.interfaces, *of_pages),
        pages,
        {
            *SERVICE_PATHS,
            *documentation.paths(),
            *paths_marked(Mark.UNLIMITED, app.url_map, app.view_functions),
            *(() if pages is None else static_files.paths(settings.brand)),
        },
        [path for part in registry.parts(Api) for path in part.paths_with_other_names],
        _gate(settings, rate_limit) if settings.needs_key else None,
    )


def _gate(settings: Settings, rate_limit: RateLimit) -> access.Gate:
    page = sign_in.page_of(settings) if settings.pages else None
    return access.Gate(settings, rate_limit, page)
