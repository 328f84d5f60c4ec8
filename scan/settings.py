"""The settings, read from the environment once, with the brand that the pages show. No other module
looks at os.environ.
"""

import functools
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from scan import registry, setting_kinds
from scan.errors import SettingError
from scan.parameters import nearest
from scan.registry import Part
from scan.setting_kinds import (
    Kind,
    Network,
    ProxyHeader,
    Variable,
    read_variables,
    require,
    setting,
    variables,
)

Palette = tuple[tuple[str, tuple[str, str]], ...]


@dataclass(frozen=True)
class Logo:
    name: str
    content: bytes


@dataclass(frozen=True)
class Brand:
    """What an extension reads from the operator's file; an empty one means Scan's own."""

    name: str = ""
    url: str = ""
    logo: Logo | None = None
    colors: Palette = ()
    stylesheet: str = ""
    links: tuple[tuple[str, str], ...] = ()
    tagline: str = ""
    notice: str = ""
    robots: str = "index"
    public_rpc_url: str = ""
    security_contact: str = ""

    @property
    def css(self) -> str:
        """The style sheet that follows Scan's own; "" without colours and file."""
        values = " ".join(
            f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in self.colors
        )
        return (f":root {{ {values} }}\n" if values else "") + self.stylesheet


UNBRANDED = Brand()


# ruff: noqa: E501, RUF009 (a setting is one line)


PACKAGE = Path(__file__).resolve().parent
# The folder of sql/, schema.sql, migrations/, demo/ and gunicorn.conf.py, which is beside the
# package in the repository, and inside it in a wheel (setup.py copies the files).
_RESOURCES = PACKAGE / "resources"
ROOT = _RESOURCES if _RESOURCES.is_dir() else PACKAGE.parent
BULK_BACKFILL_BLOCKS = 100_000
PREFIX = "SCAN_"
LEAST_PARTITION_ROWS = 1_000
# Those that are no fields of Settings: read elsewhere, or set by `scan run` for its API.
FILE = "_FILE"  # ends the name of a variable that names a file with another one's value
SECRETS = {"SCAN_API_KEY", "SCAN_PRIVATE_KEY"}
OTHER_VARIABLES = {registry.VARIABLE, "SCAN_CALL", "SCAN_SOURCES_DIR", *SECRETS}
_T = TypeVar("_T")


class Keep(NamedTuple):
    """The newest blocks that long tables keep: a number, or those of a time; one is None."""

    keep_blocks: int | None
    keep_s: int | None


def _bulk_backfill(text: str) -> int | None:
    """Return how many blocks an empty index must lack for a bulk backfill, None for never."""
    if text in ("auto", "off"):
        return BULK_BACKFILL_BLOCKS if text == "auto" else None
    return setting_kinds.integer(1, 1_000_000_000).parse(text)


def _keep(text: str) -> Keep | None:
    """Return what is kept by a number of days or `5000 blocks`, None for 0."""
    digits = text.removesuffix(" blocks")
    is_days = digits == text
    number = setting_kinds.integer(0, 100_000 if is_days else 10**12).parse(digits)
    require(not number or registry.has("maintenance"), "no extension that is on removes rows")
    if not number:
        return None
    return Keep(None, number * 86_400) if is_days else Keep(number, None)


_rows = Kind(
    "integer",
    setting_kinds.integer(LEAST_PARTITION_ROWS, 10**12).right,
    # Tests lower the least.
    lambda text: setting_kinds.integer(LEAST_PARTITION_ROWS, 10**12).parse(text),
)
_DAYS_OR_BLOCKS = "0 to keep all, a number of days up to 100000, or of blocks such as `5000 blocks`"
_backfill_blocks = Kind("bulk backfill", "auto, off, or a number of blocks", _bulk_backfill)
_kept = Kind("kept blocks", _DAYS_OR_BLOCKS, _keep)


class OwnSettings(Part, module="settings"):
    """Settings of the extension's own."""

    declared: type[Any]
    """A dataclass of settings; `brand` among them is that of the pages."""


@dataclass(frozen=True)
class Settings:
    """Every value that configures the service. Units are in the names; "" means not given."""

    # fmt: off
    database_url: str = setting("DATABASE_URL", setting_kinds.primary_url, "embedded", "PostgreSQL 16 or newer, or a pooler in session mode; several hosts need `target_session_attrs=read-write`", unset="")
    read_database_url: str = setting("READ_DATABASE_URL", setting_kinds.replica_url, "that of `DATABASE_URL`", "a replica for read-only endpoints", unset="")
    rpc_urls: tuple[str, ...] = setting("RPC_URL", setting_kinds.node_urls, "the demo chain", "the node: http, https or the path of its IPC socket; several nodes of one chain are separated by commas", unset=())
    host: str = setting("HOST", setting_kinds.host, "127.0.0.1", "the address to listen on")
    port: int = setting("PORT", setting_kinds.integer(1, 65535), "8000", "the port to listen on")
    data_dir: Path = setting("SCAN_DATA_DIR", setting_kinds.folder, "`var`", "folder for the files that Scan writes", unset=Path("var"))
    start_block: int | None = setting("SCAN_START_BLOCK", setting_kinds.integer(0, 2**62), "0, or where the index begins", "the first block to index; fixed with the first block in a database", unset=None)
    development_node: str = setting("SCAN_DEVELOPMENT_NODE", setting_kinds.one_of("auto", "off"), "auto", "`off`: state that a development node may change without a block is cached")
    traces: str = setting("SCAN_TRACES", setting_kinds.one_of("auto", "off"), "auto", "`off`: request no traces; internal transfers, but those in logs of coin (Amsterdam), and contracts created by contracts are then not indexed")
    logs: str = setting("SCAN_LOGS", setting_kinds.one_of("all", "none", "standard"), "none", "logs to store: `all`, `none`, or `standard` (`scan/indexer/standard_events.json`); fixed with the first block; `scan rebuild logs` adds more", unset="")
    stores_bodies: bool = setting("SCAN_BODIES", setting_kinds.switch("on", "off"), "on", "whole blocks are stored, compressed: their transactions and receipts need no node; `off`: none are from then on")
    confirmations: int = setting("SCAN_CONFIRMATIONS", setting_kinds.integer(0, 100_000), "0", "webhook events are sent this many blocks behind the head")
    finality: int = setting("SCAN_FINALITY", setting_kinds.integer(1, 1_000_000), "256", "a reorg deeper than this many blocks stops indexing")
    bulk_backfill_blocks: int | None = setting("SCAN_BULK_BACKFILL", _backfill_blocks, "auto", "blocks that an empty index must lack to be filled in bulk; `auto`: 100,000; `off`: never")
    partition_rows: int = setting("SCAN_PARTITION_ROWS", _rows, "100000000", "rows of a partition of the long tables, at least 1,000")
    keep: Keep | None = setting("SCAN_KEEP_DAYS", _kept, "0", "days for which rows are kept, or `5000 blocks`; 0: all")
    rate_limit_anonymous: str = setting("SCAN_RATE_LIMIT_ANONYMOUS", setting_kinds.rate, "10/minute", "requests per client address without a key")
    rate_limit_key: str = setting("SCAN_RATE_LIMIT_KEY", setting_kinds.rate, "100/minute", "requests per API key")
    rate_limit_address: str = setting("SCAN_RATE_LIMIT_ADDRESS", setting_kinds.rate, "1000/minute", "requests per client address, over all its keys")
    rate_limit_new_keys: str = setting("SCAN_RATE_LIMIT_NEW_KEYS", setting_kinds.rate, "20/day", "API keys created per client address")
    rate_limit_pages: str = setting("SCAN_RATE_LIMIT_PAGES", setting_kinds.rate, "120/minute", "HTML pages per client address")
    rate_limit_files: str = setting("SCAN_RATE_LIMIT_FILES", setting_kinds.rate, "30/hour", "lists as files per client address")
    rate_limit_storage: str = setting("SCAN_RATE_LIMIT_STORAGE", setting_kinds.storage_url, "memory://", "`redis://host:6379` shares limits between hosts")
    rate_limit_when_storage_is_lost: str = setting("SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST", setting_kinds.one_of("refuse", "local"), "refuse", "without Redis: `refuse` returns 503, `local` counts in each process")
    max_lag_blocks: int = setting("SCAN_MAX_LAG_BLOCKS", setting_kinds.integer(0, 1_000_000_000), "30", "`/readyz` is 503 when the replica is further behind")
    trusted_proxies: int = setting("SCAN_TRUSTED_PROXIES", setting_kinds.integer(0, 100), "0", "number of proxies in front that set `X-Forwarded-For`")
    owner_auth: str = setting("SCAN_OWNER_AUTH", setting_kinds.one_of("claimed", "always", "never"), "claimed", "when webhooks need a key of their owner: `claimed` (once there was one), `always`, `never`")
    access: str = setting("SCAN_ACCESS", setting_kinds.one_of("open", "keys", "keys+wallets"), "open", "`keys`: everything but `/healthz`, `/readyz` without details and the form at `/sign-in` needs an API key of `scan key create`; `keys+wallets`: who has access may make keys by a wallet, too")
    proxy_user_header: ProxyHeader | None = setting("SCAN_PROXY_USER_HEADER", setting_kinds.proxy_header, "none", "with `SCAN_ACCESS=keys` and `SCAN_TRUSTED_PROXIES`: the header in which a proxy on this machine, or `from` networks (`X-Forwarded-User from 10.0.0.0/8`), names the person whom it has signed in; it must remove its clients' own", unset=None)
    webhook_allow_networks: tuple[Network, ...] = setting("SCAN_WEBHOOK_ALLOW_NETWORKS", setting_kinds.networks, "none", "networks to which webhooks may be sent, besides public addresses", unset=())
    delivers: bool = setting("SCAN_DELIVERY", setting_kinds.switch("on", "off"), "on", "`off`: the API process sends no webhooks")
    sends_transactions: bool = setting("SCAN_SEND_TRANSACTIONS", setting_kinds.switch("on", "off"), "off", "`on`: `eth_sendRawTransaction` is passed to the node")
    ca_bundle: str = setting("REQUESTS_CA_BUNDLE", setting_kinds.certificates, "certifi's", "certificate authorities for receivers of webhooks and other https servers", unset="")
    solc_dir: Path | None = setting("SCAN_SOLC_DIR", setting_kinds.folder, "solc-select's", "folder of compilers", unset=None)
    log_format: str = setting("SCAN_LOG_FORMAT", setting_kinds.one_of("text", "json", "text+requests", "json+requests"), "text", "`json`: one JSON object per line; `text+requests` and `json+requests`: every request, too, of which 5xx responses are always logged")
    log_level: str = setting("SCAN_LOG_LEVEL", setting_kinds.one_of("debug", "info", "warning", "error"), "info", "the least severe lines that are logged: `debug`, `info`, `warning` or `error`")
    pages: bool = setting("SCAN_PAGES", setting_kinds.switch("on", "off"), "on", "`off`: no HTML pages")
    base_path: str = setting("SCAN_BASE_PATH", setting_kinds.base_path, "none", "the path at which a proxy serves this chain, such as `/bsc`", unset="")
    public_url: str = setting("SCAN_PUBLIC_URL", setting_kinds.origin, "the brand's `url`", "the address of the pages without `SCAN_BASE_PATH`, to which messages of webhooks with a `format` link", unset="")
    chain_name: str = setting("SCAN_CHAIN_NAME", setting_kinds.short_text(50), "by chain id", "the chain's name", unset="")
    coin_symbol: str = setting("SCAN_COIN_SYMBOL", setting_kinds.short_text(12), "by chain id", "the coin's symbol", unset="")
    # fmt: on
    brand: Brand = UNBRANDED  # that an extension has read
    sources_dir: Path | None = None  # of verified sources, which `scan run` gives its API
    path: str = os.defpath
    started_by_make: bool = False
    of_extensions: Mapping[type[Any], Any] = field(default_factory=dict)

    def of(self, declared: type[_T]) -> _T:
        """Return an extension's settings, whose type is `declared`."""
        settings: _T | None = self.of_extensions.get(declared)
        return declared() if settings is None else settings

    @property
    def base_url(self) -> str:
        """The URL at which this machine reaches the service at HOST and PORT."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def needs_key(self) -> bool:
        return self.access != "open"

    @property
    def wallets_make_keys(self) -> bool:
        return self.access != "keys"

    @property
    def logs_requests(self) -> bool:
        return self.log_format.endswith("+requests")

    @property
    def reads_replica(self) -> bool:
        return self.read_database_url not in ("", self.database_url)

    @staticmethod
    def from_environment(environ: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings. Raises SettingError, which names the variable and its value."""
        environ = with_files(environ)
        registry.chosen(environ)  # raises SettingError
        of_extensions = {
            part.declared: part.declared(**read_variables(part.declared, environ))
            for part in registry.parts(OwnSettings)
        }
        settings = Settings(
            **read_variables(Settings, environ),
            brand=next((o.brand for o in of_extensions.values() if hasattr(o, "brand")), UNBRANDED),
            sources_dir=Path(sources) if (sources := environ.get("SCAN_SOURCES_DIR")) else None,
            path=environ.get("PATH", os.defpath),
            started_by_make="MAKELEVEL" in environ,
            of_extensions=of_extensions,
        )
        # A header must not be believed of everybody, or of nobody.
        header = settings.proxy_user_header
        reason = ""
        if header and not settings.needs_key:
            reason = "without SCAN_ACCESS=keys everybody may ask, whoever signed in"
        if header and not settings.trusted_proxies:
            reason = "only a proxy may name people: set SCAN_TRUSTED_PROXIES"
        if header and reason:
            raise SettingError("SCAN_PROXY_USER_HEADER", header.name, reason)
        return replace(
            settings,
            read_database_url=settings.read_database_url or settings.database_url,
            data_dir=settings.data_dir.absolute(),
        )


def declarations() -> list[type[Any]]:
    """Return what declares settings: the core and extensions."""
    of_extensions = [p.declared for p in registry.parts(OwnSettings, of_installed=True)]
    return [Settings, *of_extensions]


def _declared() -> Iterator[Variable]:
    return (variable for type_ in declarations() for _, variable in variables(type_))


def with_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables, each NAME_FILE as NAME with the file's content. Raises SettingError."""
    given = dict(environ)
    for name in {variable.name for variable in _declared()} | SECRETS:
        of_file = f"{name}{FILE}"
        if path := given.pop(of_file, "").strip():
            if given.get(name, "").strip():
                raise SettingError(of_file, path, f"{name} is set, too")
            try:
                given[name] = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as error:
                raise SettingError(of_file, path, f"cannot be read: {error}") from None
            if not given[name]:
                raise SettingError(of_file, path, "is empty")
    return given


def unread_variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that are given and not read, each with the reason."""
    of_extensions = {
        variable.name: f"is of the extension {name}, which is off"
        for name, part in registry.by_extension(OwnSettings, of_installed=True)
        if name not in registry.enabled()
        for _, variable in variables(part.declared)
    }
    known = {variable.name for variable in _declared()} | OTHER_VARIABLES
    names = {name.removeprefix(PREFIX): name for name in known}  # which all names share
    known |= {f"{name}{FILE}" for name in known - OTHER_VARIABLES | SECRETS}
    unknown = {}
    for name in sorted(environ.keys() - known):
        if name.startswith(PREFIX):
            similar = nearest(name.removeprefix(PREFIX), names)
            advice = f"; did you mean {names[similar]}?" if similar else ""
            unknown[name] = f"is not a setting{advice}"
    reasons = of_extensions | unknown
    return {name: reason for name, reason in reasons.items() if environ.get(name, "").strip()}


def doubtful_variables(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the variables that are given and have no effect, each with the reason: those that are
    not read, and values that have none yet. Raises SettingError."""
    environ = with_files(environ)
    unread = unread_variables(environ)
    read = {name: text for name, text in environ.items() if name not in unread}
    doubts = {
        variable.name: variable.kind.doubt(values[name])
        for declared in declarations()
        if (values := read_variables(declared, read))
        for name, variable in variables(declared)
        if name in values
    }
    return {name: doubt for name, doubt in doubts.items() if doubt} | unread


@functools.cache
def own_call() -> str:
    """Return how `scan` is called in this installation: as SCAN_CALL says, which containers and
    services have; by its name where PATH leads to it; else by its path."""
    program = Path(sys.executable).with_name("scan")
    on_path = Path(shutil.which("scan") or "")
    if given := os.environ.get("SCAN_CALL"):
        return given
    if not program.exists() or (on_path.is_file() and on_path.samefile(program)):
        return "scan"
    return shlex.quote(min(os.path.relpath(program), str(program), key=len))


def with_own_call(text: str) -> str:
    """Return a text in which `scan …` is called as own_call() says."""
    return text.replace("`scan ", f"`{own_call()} ")


def wallet_private_key(environ: Mapping[str, str] = os.environ) -> str:
    """Return the key for `scan key request`. It is not in Settings, which other processes get."""
    return with_files(environ).get("SCAN_PRIVATE_KEY", "").strip()


def client_api_key(environ: Mapping[str, str] = os.environ) -> str:
    """Return the API key for `scan mcp`, which is a client of a service; "" for none."""
    return with_files(environ).get("SCAN_API_KEY", "").strip()


def solc_select_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder in which solc-select keeps compilers."""
    return Path(environ.get("VIRTUAL_ENV") or Path.home(), ".solc-select", "artifacts")


def child_environment(settings: Settings) -> dict[str, str]:
    """Return the environment of processes that `scan run` starts in another working directory:
    paths are absolute. "" means not given, as are variables that we do not read and report."""
    environment = {
        **with_files(os.environ),
        **dict.fromkeys(unread_variables(), ""),
        "DATABASE_URL": settings.database_url,
        "READ_DATABASE_URL": settings.read_database_url,
        "RPC_URL": ",".join(settings.rpc_urls),
        "SCAN_DATA_DIR": str(settings.data_dir),
        "SCAN_SOURCES_DIR": str(settings.sources_dir or ""),
        "SCAN_START_BLOCK": "" if settings.start_block is None else str(settings.start_block),
        "SCAN_CHAIN_NAME": settings.chain_name,
        "SCAN_CALL": own_call(),
    }
    absolute = {
        v.name: v.kind.absolute(environment[v.name].strip())
        for v in _declared()
        if environment.get(v.name, "").strip()
    }
    return {**environment, **absolute}
