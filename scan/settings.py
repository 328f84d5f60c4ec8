"""The settings, read from the environment once. No other module looks at os.environ."""

import ipaddress
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from scan import brand
from scan.brand import UNBRANDED, Brand
from scan.errors import SettingError

PACKAGE = Path(__file__).resolve().parent
# The folder of sql/, schema.sql, migrations/, demo/ and gunicorn.conf.py, which is beside the
# package in the repository, and inside it in a wheel (setup.py copies the files).
_RESOURCES = PACKAGE / "resources"
ROOT = _RESOURCES if _RESOURCES.is_dir() else PACKAGE.parent
_RATE = re.compile(
    r"[1-9][0-9]{0,8}\s*(?:/|\s+per\s+)\s*(?:[1-9][0-9]{0,4}\s*)?(?:second|minute|hour|day)s?"
)
# Paths of Scan itself, which cannot be the beginning of a base path.
_OWN_PATHS = {
    *("accounts", "blocks", "chains", "charts", "contracts", "dex", "gas", "healthz", "keys"),
    *("live", "llms.txt", "mcp", "metrics", "readyz", "tokens", "trades", "txs", "watchlist"),
    *("favicon.ico", "internal-transfers", "robots.txt", "token-transfers", "user-operations"),
    *("verified-contracts", "verify", "webhooks"),
}
_OWN_FOLDERS = {
    *(".well-known", "address", "api", "block", "docs", "nft", "pool", "search", "server"),
    *("static", "token", "tx", "user-operation", "v2"),
}
FAR_BEHIND = 100_000
PARTITION_ROWS = 100_000_000
LEAST_PARTITION_ROWS = 1_000
_T = TypeVar("_T")
_D = TypeVar("_D")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class Keep(NamedTuple):
    """The newest blocks that long tables keep: a number, or those of a time; one is None."""

    keep_blocks: int | None
    keep_s: int | None


@dataclass(frozen=True)
class Settings:
    """Every value that configures the service. Units are in the names; "" means not given."""

    database_url: str = ""
    read_database_url: str = ""
    rpc_urls: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8000
    data_dir: Path = Path("var")
    start_block: int | None = None  # None: not given, so 0, or where the index has begun
    traces: str = "auto"
    logs: str = ""
    confirmations: int = 0
    finality: int = 256
    bulk_backfill_blocks: int | None = FAR_BEHIND  # None: off
    partition_rows: int = PARTITION_ROWS
    keep_days: int = 0  # 0: all
    keep_blocks: int = 0
    rate_limit_anonymous: str = "10/minute"
    rate_limit_key: str = "100/minute"
    rate_limit_address: str = "1000/minute"
    rate_limit_new_keys: str = "20/day"
    rate_limit_pages: str = "120/minute"
    rate_limit_files: str = "30/hour"
    rate_limit_storage: str = "memory://"
    rate_limit_when_storage_is_lost: str = "refuse"
    verified_mb_per_day: int = 2000
    max_lag_blocks: int = 30
    trusted_proxies: int = 0
    owner_auth: str = "claimed"
    webhook_allow_networks: tuple[Network, ...] = ()
    delivers: bool = True
    sends_transactions: bool = False
    ca_bundle: str = ""
    solc_dir: Path | None = None
    sources_dir: Path | None = None
    statement_timeout_ms: int = 5000
    log_format: str = "text"
    log_requests: bool = False
    pages: bool = True
    base_path: str = ""
    fetches_nft_media: bool = False
    ipfs_gateway: str = ""
    prices: str = ""
    chain_name: str = ""
    coin_symbol: str = ""
    public_rpc_url: str = ""
    security_contact: str = ""
    brand: Brand = UNBRANDED
    metrics_port: int = 0
    cluster_ca: str = ""
    cluster_cert: str = ""
    cluster_key: str = ""
    path: str = os.defpath
    started_by_make: bool = False

    @property
    def base_url(self) -> str:
        """The URL at which this machine reaches the service at HOST and PORT."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    @property
    def reads_replica(self) -> bool:
        return self.read_database_url not in ("", self.database_url)

    @property
    def keep(self) -> Keep | None:
        """The blocks that long tables keep, None for all. Days count where both are given."""
        if self.keep_days:
            return Keep(None, self.keep_days * 86_400)
        return Keep(self.keep_blocks, None) if self.keep_blocks else None

    @staticmethod
    def from_environment(environ: Mapping[str, str] = os.environ) -> "Settings":
        """Return the settings. Raises SettingError, which names the variable and its value."""

        def read(name: str, parse: Callable[[str], _T], default: _D) -> _T | _D:
            text = environ.get(name, "").strip()
            if not text:
                return default
            try:
                return parse(text)
            except ValueError as error:
                raise SettingError(name, without_password(text), str(error)) from None

        read("SCAN_UNMATCHED_BLOCKS", _refuse, None)
        database_url = read("DATABASE_URL", _primary_url, "")
        return Settings(
            database_url=database_url,
            read_database_url=read("READ_DATABASE_URL", _database_url, database_url),
            rpc_urls=read("RPC_URL", _rpc_urls, ()),
            host=read("HOST", str, "127.0.0.1"),
            port=read("PORT", _integer(1, 65535), 8000),
            data_dir=read("SCAN_DATA_DIR", Path, Path("var")).absolute(),
            start_block=read("SCAN_START_BLOCK", _integer(0, 2**62), None),
            traces=read("SCAN_TRACES", _one_of("auto", "off"), "auto"),
            logs=read("SCAN_LOGS", _one_of("all", "none", "standard"), ""),
            confirmations=read("SCAN_CONFIRMATIONS", _integer(0, 100_000), 0),
            finality=read("SCAN_FINALITY", _integer(1, 1_000_000), 256),
            bulk_backfill_blocks=read("SCAN_BULK_BACKFILL", _bulk_backfill, FAR_BEHIND),
            partition_rows=read(
                "SCAN_PARTITION_ROWS", _integer(LEAST_PARTITION_ROWS, 10**12), PARTITION_ROWS
            ),
            keep_days=read("SCAN_KEEP_DAYS", _integer(0, 100_000), 0),
            keep_blocks=read("SCAN_KEEP_BLOCKS", _integer(0, 10**12), 0),
            rate_limit_anonymous=read("SCAN_RATE_LIMIT_ANONYMOUS", _rate, "10/minute"),
            rate_limit_key=read("SCAN_RATE_LIMIT_KEY", _rate, "100/minute"),
            rate_limit_address=read("SCAN_RATE_LIMIT_ADDRESS", _rate, "1000/minute"),
            rate_limit_new_keys=read("SCAN_RATE_LIMIT_NEW_KEYS", _rate, "20/day"),
            rate_limit_pages=read("SCAN_RATE_LIMIT_PAGES", _rate, "120/minute"),
            rate_limit_files=read("SCAN_RATE_LIMIT_FILES", _rate, "30/hour"),
            rate_limit_storage=read("SCAN_RATE_LIMIT_STORAGE", _storage, "memory://"),
            rate_limit_when_storage_is_lost=read(
                "SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST", _one_of("refuse", "local"), "refuse"
            ),
            verified_mb_per_day=read("SCAN_VERIFIED_MB_PER_DAY", _integer(1, 1_000_000), 2000),
            max_lag_blocks=read("SCAN_MAX_LAG_BLOCKS", _integer(0, 1_000_000_000), 30),
            trusted_proxies=read("SCAN_TRUSTED_PROXIES", _integer(0, 100), 0),
            owner_auth=read("SCAN_OWNER_AUTH", _one_of("claimed", "always", "never"), "claimed"),
            webhook_allow_networks=read("SCAN_WEBHOOK_ALLOW_NETWORKS", _networks, ()),
            delivers=read("SCAN_DELIVERY", _one_of("on", "off"), "on") == "on",
            sends_transactions=read("SCAN_SEND_TRANSACTIONS", _one_of("on", "off"), "off") == "on",
            ca_bundle=read("REQUESTS_CA_BUNDLE", _existing_path, ""),
            solc_dir=read("SCAN_SOLC_DIR", Path, None),
            sources_dir=read("SCAN_SOURCES_DIR", Path, None),
            statement_timeout_ms=read("SCAN_STATEMENT_TIMEOUT_MS", _integer(10, 600_000), 5000),
            log_format=read("SCAN_LOG_FORMAT", _one_of("text", "json"), "text"),
            log_requests=read("SCAN_LOG_REQUESTS", _one_of("on", "off"), "off") == "on",
            pages=read("SCAN_PAGES", _one_of("on", "off"), "on") == "on",
            base_path=read("SCAN_BASE_PATH", _path, ""),
            fetches_nft_media=read("SCAN_NFT_MEDIA", _one_of("on", "off"), "off") == "on",
            ipfs_gateway=read("SCAN_IPFS_GATEWAY", _https_url, ""),
            prices=read("SCAN_PRICES", _prices, ""),
            chain_name=read("SCAN_CHAIN_NAME", _short(50), ""),
            coin_symbol=read("SCAN_COIN_SYMBOL", _short(12), ""),
            public_rpc_url=read("SCAN_PUBLIC_RPC_URL", _public_url, ""),
            security_contact=read("SCAN_SECURITY_CONTACT", _contact, ""),
            brand=Brand(
                name=read("SCAN_BRAND_NAME", _short(30), ""),
                url=read("SCAN_BRAND_URL", brand.site_url, ""),
                logo=read("SCAN_BRAND_LOGO", brand.logo, None),
                colours=read("SCAN_BRAND_COLORS", brand.colours, ()),
                stylesheet=read("SCAN_BRAND_CSS", brand.stylesheet, ""),
                links=read("SCAN_BRAND_LINKS", brand.links, ()),
                tagline=read("SCAN_BRAND_TAGLINE", _short(160), ""),
                notice=read("SCAN_BRAND_NOTICE", _short(300), ""),
                is_indexed=read("SCAN_BRAND_ROBOTS", _one_of("index", "none"), "index") == "index",
            ),
            metrics_port=read("SCAN_METRICS_PORT", _integer(0, 65535), 0),
            cluster_ca=read("SCAN_CLUSTER_CA", _existing_path, ""),
            cluster_cert=read("SCAN_CLUSTER_CERT", _existing_path, ""),
            cluster_key=read("SCAN_CLUSTER_KEY", _existing_path, ""),
            path=environ.get("PATH", os.defpath),
            started_by_make="MAKELEVEL" in environ,
        )


def without_password(text: str) -> str:
    """Return a URL with its password hidden, both before the host and among the parameters."""
    text = re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)
    return re.sub(r"(password\s*=\s*)('[^']*'?|[^&\s]*)", r"\1***", text)


def _integer(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return parse


def _one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return parse


def _refuse(text: str) -> None:
    if text != "refuse":
        raise ValueError("was removed: a block that contradicts its hash is never indexed")


def _bulk_backfill(text: str) -> int | None:
    """Return how many blocks an empty index must lack for a bulk backfill, None for never."""
    if text in ("auto", "off"):
        return FAR_BEHIND if text == "auto" else None
    try:
        return _integer(1, 1_000_000_000)(text)
    except ValueError:
        raise ValueError("must be auto, off, or a number of blocks") from None


def _https_url(text: str) -> str:
    if not re.fullmatch(r"https://[A-Za-z0-9.\-_\[\]:]+(/[!-~]*)?", text) or set("?#@") & set(text):
        raise ValueError("must be an https URL without user, query and fragment")
    return text


def _public_url(text: str) -> str:
    """Return a URL that anybody may see. Wallets accept http only on the visitor's own machine."""
    local = r"http://(?:localhost|127\.0\.0\.1)(?::[0-9]{1,5})?(/[!-~]*)?"
    return text if re.fullmatch(local, text) and not set("?#@") & set(text) else _https_url(text)


def _short(max_characters: int) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if len(text) > max_characters or not text.isprintable():
            raise ValueError(f"must have at most {max_characters} printable characters")
        return text

    return parse


def _contact(text: str) -> str:
    """Return a contact URI in the form of RFC 9116."""
    if not re.fullmatch(r"(mailto:|https://|tel:)[!-~]{1,200}", text):
        raise ValueError("must begin with mailto:, https:// or tel:")
    return text


def _path(text: str) -> str:
    """Return a base path without the slash at its end, so that our paths can follow it."""
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", text):
        raise ValueError("must be a path such as /bsc")
    first, *below = text.strip("/").split("/")
    if first in _OWN_FOLDERS or (first in _OWN_PATHS and not below):
        raise ValueError(f"/{first} is a path of Scan itself")
    if {".", ".."} & {first, *below}:
        raise ValueError("clients remove . and .. from a path")
    return text.rstrip("/")


def _primary_url(text: str) -> str:
    """Return a URL of the database. Refuse several hosts without target_session_attrs=read-write.

    Without it, libpq takes the first host that answers: a standby, or an old primary that is back
    after a failover and does not know of it.
    """
    address = urlsplit(_database_url(text))
    query = dict(parse_qsl(address.query))  # of a repeated parameter, libpq also takes the last
    hosts = (
        unquote(address.netloc.rpartition("@")[2]),
        query.get("host", ""),
        query.get("hostaddr", ""),
    )
    if any("," in host for host in hosts) and query.get("target_session_attrs") != "read-write":
        raise ValueError("several hosts need target_session_attrs=read-write")
    return text


def _database_url(text: str) -> str:
    address = urlsplit(text)
    if address.scheme not in ("postgresql", "postgres"):
        raise ValueError("must be a postgresql:// URL")
    if "," not in address.netloc:  # of several hosts, each may have a port
        _require_port(address)
    return text


def _rpc_urls(text: str) -> tuple[str, ...]:
    urls = tuple(part.strip() for part in text.split(","))
    for url in urls:
        if url.startswith("/"):  # a Unix socket, which may come into being later
            continue
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError("must be http(s):// URLs or paths of IPC sockets, with commas between")
        _require_port(address)
    return urls


def _require_port(address: SplitResult) -> None:
    """Check a URL's port, which urlsplit checks only when it is read. Raises ValueError."""
    try:
        is_usable = address.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise ValueError("the port must be a number from 1 to 65535")


def _existing_path(text: str) -> str:
    if not Path(text).exists():
        raise ValueError("no such file or directory")
    return text


def _prices(text: str) -> str:
    """Return the source of unit prices: a URL, a pool with the token that prices are in, or
    a file."""
    if "://" in text:
        return _https_url(text)
    if text.lower().startswith("0x"):
        if not re.fullmatch(r"0x[0-9a-f]{40}/0x[0-9a-f]{40}", text.lower()):
            raise ValueError("must be the address of a pool, / and that of the token prices are in")
        return text.lower()
    return _existing_path(text)


def _rate(text: str) -> str:
    if not _RATE.fullmatch(text):
        raise ValueError("must be a rate such as 10/minute or 1000 per 2 hours")
    return text


def _storage(text: str) -> str:
    if not re.match(r"[a-z0-9+]+://", text):
        raise ValueError("must be a storage URL such as memory:// or redis://host:6379")
    return text


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(","))


def wallet_private_key(environ: Mapping[str, str] = os.environ) -> str:
    """Return the key for `scan key request`. It is not in Settings, which other processes get."""
    return environ.get("SCAN_PRIVATE_KEY", "").strip()


def client_api_key(environ: Mapping[str, str] = os.environ) -> str:
    """Return the API key for `scan mcp`, which is a client of a service; "" for none."""
    return environ.get("SCAN_API_KEY", "").strip()


def environment_with(values: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with these variables, for another process; "" means not given."""
    return os.environ | values


def child_environment(settings: Settings) -> dict[str, str]:
    """Return the environment of processes that `scan run` starts."""
    return environment_with(
        {
            "DATABASE_URL": settings.database_url,
            "READ_DATABASE_URL": settings.read_database_url,
            "RPC_URL": ",".join(settings.rpc_urls),
            "SCAN_DATA_DIR": str(settings.data_dir),
            "SCAN_SOURCES_DIR": str(settings.sources_dir or ""),
            "SCAN_START_BLOCK": "" if settings.start_block is None else str(settings.start_block),
            "SCAN_CHAIN_NAME": settings.chain_name,
        }
    )
