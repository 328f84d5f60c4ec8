"""Variables of the environment: how each is declared and read, and the kinds of their values."""

import ipaddress
import os
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from scan import registry
from scan.errors import SettingError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_RATE = re.compile(
    r"[1-9][0-9]{0,8}\s*(?:/|\s+per\s+)\s*(?:[1-9][0-9]{0,4}\s*)?(?:second|minute|hour|day)s?"
)
# Storages of the package `limits` that have moving windows, and the package of a client.
_STORAGE = re.compile(
    r"memory://|(?:(redis|valkey)(?:s|\+(?:unix|cluster|sentinel))?|mongodb(?:\+srv)?)://\S+"
)
_HOST_NAME = re.compile(r"(?![0-9.]+\Z)[A-Za-z0-9][A-Za-z0-9-]{0,62}(?:\.[A-Za-z0-9-]{1,63}){0,9}")
# Files that the URL of a database or of Redis names.
_FILE_PARAMETER = re.compile(
    r"([?&](?:ssl(?:cert|key|rootcert|crl|crldir)|passfile"
    r"|ssl_(?:ca_certs|ca_path|certfile|keyfile))=)(?!system(?:&|\Z))([^/&][^&]*)"
)
# First names of Scan's own paths, as registry.reserved_paths() has those of extensions.
_OWN_PATHS = set(
    """
    blocks contracts favicon.ico healthz keys live readyz sign-in sign-out status token-transfers
    tokens trades txs watchlist webhooks address/ api/ block/ docs/ static/ token/ tx/
    """.split()
)
_OWN_MACHINE = "127.0.0.0/8,::1/128"
_OTHER_HEADERS = set(
    """
    accept authorization connection content-length content-type cookie host origin referer
    user-agent x-api-key x-forwarded-for x-forwarded-proto x-real-ip x-request-id x-webhook-secret
    """.split()
)
_T = TypeVar("_T")


def without_password(text: str) -> str:
    """Return a URL with its password hidden, both before the host and among the parameters."""
    text = re.sub(r"((?:^|://)[^:/@\s]*):(?!//)\S*@", r"\1:***@", text)
    return re.sub(r"(password\s*=\s*)('[^']*'?|[^&\s]*)", r"\1***", text)


def node_origins(text: str) -> str:
    """Return RPC_URL as messages may show it: paths of sockets, and of URLs scheme and host alone,
    since hosted nodes have their keys elsewhere. The URLs may be malformed."""
    text = re.sub(r"([a-z][a-z0-9+.-]*://)?.*@", r"\1***@", text, flags=re.IGNORECASE | re.DOTALL)
    return ",".join(map(_node_origin, text.split(",")))


def _node_origin(text: str) -> str:
    if re.match(r"\s*/(?!/)", text):
        return text
    origin = re.match(r"\s*([a-z][a-z0-9+.-]*://)?([^/?#\s]*)", text, re.IGNORECASE)
    assert origin is not None
    is_host = origin[1] or set(".:") & set(origin[2])  # else it may be a key alone
    visible = origin[0] if is_host else ""
    return text if visible == text else f"{visible}/..."


@dataclass(frozen=True)
class Kind(Generic[_T]):
    """A kind of values, and its parser: a call returns the value of a text, or raises ValueError.

    `right` completes "must be" in its message. `parse` takes a text whose paths are absolute, and
    raises ValueError or OSError, whose text is empty where `right` says it all. `absolute` makes
    the paths of a text absolute: a process that we start has another working directory. `redact`
    returns what messages may show of a text, `doubt` why a value has no effect yet, or "".
    """

    name: str
    right: str
    parse: Callable[[str], _T]
    absolute: Callable[[str], str] = str
    redact: Callable[[str], str] = without_password
    doubt: Callable[[_T], str] = lambda _: ""

    def __call__(self, text: str) -> _T:
        try:
            return self.parse(self.absolute(text))
        except (ValueError, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"must be {self.right}{reason and f': {reason}'}")


class Variable(NamedTuple):
    """A variable as docs/settings.md lists it, with its default and its meaning in Markdown."""

    name: str
    kind: Kind[Any]
    default: str
    meaning: str


def setting(name: str, kind: Kind[Any], default: str, meaning: str, *, unset: Any = ...) -> Any:
    """Declare the field of a frozen dataclass that a variable gives.

    `default` is the variable's text by default; with `unset`, which is the field's value then, a
    phrase for it.
    """
    if unset is ...:
        unset, default = kind(default), f"`{default}`"
    return field(default=unset, metadata={Variable: Variable(name, kind, default, meaning)})


def variables(declared: type) -> Iterator[tuple[str, Variable]]:
    """Return the fields of a dataclass that variables give, with these."""
    for field_ in fields(declared):
        if Variable in field_.metadata:
            yield field_.name, field_.metadata[Variable]


def read_variables(declared: type, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the variables that are given, by field. Raises SettingError."""
    values = {}
    for name, variable in variables(declared):
        if text := environ.get(variable.name, "").strip():
            try:
                values[name] = variable.kind(text)
            except ValueError as error:
                shown = variable.kind.redact(text)
                raise SettingError(variable.name, shown, str(error)) from None
    return values


def require(condition: object, reason: str = "") -> None:
    """Raise ValueError with the reason unless the condition holds."""
    if not condition:
        raise ValueError(reason)


def integer(least: int, most: int) -> Kind[int]:
    def parse(text: str) -> int:
        require(re.fullmatch(r"[0-9]{1,19}", text, re.ASCII) and least <= int(text) <= most)
        return int(text)

    return Kind("integer", f"a whole number from {least} to {most}", parse)


def _text_kind(name: str, right: str, is_right: Callable[[str], object]) -> Kind[str]:
    """Return the kind of texts that a condition holds for."""

    def parse(text: str) -> str:
        require(is_right(text))
        return text

    return Kind(name, right, parse)


def one_of(*words: str) -> Kind[str]:
    return _text_kind("word", f"one of {', '.join(words)}", words.__contains__)


def switch(true: str, false: str) -> Kind[bool]:
    """Return the kind of two words."""
    word = one_of(true, false)
    return Kind(word.name, word.right, lambda text: word.parse(text) == true)


def short_text(max_characters: int) -> Kind[str]:
    right = f"a text of at most {max_characters} printable characters"
    return _text_kind("text", right, lambda t: len(t) <= max_characters and t.isprintable())


def url_parts(url: str, *schemes: str) -> SplitResult:
    """Return the parts of a URL of one of these schemes, with a host. Raises ValueError."""
    parts = _split(url, *schemes)
    require(parts.hostname)
    require(re.fullmatch(r"[\w.:%-]+", parts.hostname or ""), "its host is no host's name")
    _require_port(parts)
    return parts


def _split(url: str, *schemes: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:  # whose text may have the password
        raise ValueError("its host is malformed") from None
    require(not schemes or parts.scheme in schemes)
    require(not re.search(r"\s", url), "a URL has no spaces")
    return parts


def _require_port(parts: SplitResult) -> None:
    """Check a URL's port, which urlsplit checks only when it is read. Raises ValueError."""
    try:
        is_usable = parts.port != 0
    except ValueError:
        is_usable = False
    require(is_usable, "the port must be a number from 1 to 65535")


def _https_url(text: str) -> str:
    require(re.fullmatch(r"https://[A-Za-z0-9.\-_\[\]:]+(/[!-~]*)?", text))
    require(not set("?#@") & set(text))
    url_parts(text, "https")
    return text


def _base_path(text: str) -> str:
    """Return a base path without the slash at its end, so that our paths can follow it."""
    require(re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", text))
    first, *below = text.strip("/").split("/")
    reserved = _OWN_PATHS | registry.reserved_paths()
    is_reserved = f"{first}/" in reserved or (first in reserved and not below)
    require(not is_reserved, f"/{first} is a path of Scan itself")
    require(not {".", ".."} & {first, *below}, "clients remove . and .. from a path")
    return text.rstrip("/")


def _primary_url(text: str) -> str:
    """Return a URL of the database. Refuse several hosts without target_session_attrs=read-write.

    Without it, libpq takes the first host that answers: a standby, or an old primary that is back
    after a failover and does not know of it.
    """
    address = urlsplit(_replica_url(text))
    query = dict(parse_qsl(address.query))  # of a repeated parameter, libpq also takes the last
    hosts = [unquote(address.netloc.rpartition("@")[2])]
    hosts += [query.get(name, "") for name in ("host", "hostaddr")]
    is_one = not any("," in host for host in hosts)
    is_primary = query.get("target_session_attrs") == "read-write"
    require(is_one or is_primary, "several hosts need target_session_attrs=read-write")
    return text


def _replica_url(text: str) -> str:
    address = _split(text, "postgresql", "postgres")
    if "," not in address.netloc:  # of several hosts, each may have a port
        _require_port(address)
    return text


def _node_urls(text: str) -> tuple[str, ...]:
    urls = tuple(part.strip() for part in text.split(","))
    for url in urls:
        if url.startswith("/"):  # a Unix socket, which may come into being later
            require(not Path(url).is_dir(), "a path must be that of a socket, not of a folder")
        else:
            url_parts(url, "http", "https")
    return urls


def _host(text: str) -> str:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        require(_HOST_NAME.fullmatch(text))
    return text


def is_loopback(host: str) -> bool:
    """Return whether a host's name or address is the machine's own."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def absolute_path(text: str) -> str:
    return str(Path(text).absolute())


def absolute_parameters(url: str) -> str:
    """Return a URL whose parameters name files by absolute paths."""
    return _FILE_PARAMETER.sub(lambda m: m[1] + quote(absolute_path(unquote(m[2]))), url)


def _file(text: str) -> str:
    require(Path(text).exists(), "no such file")
    require(not Path(text).is_dir(), "it is a folder")
    require(os.access(text, os.R_OK), "this user may not read it")
    return text


def _folder(text: str) -> Path:
    path = Path(text)
    existing = next(folder for folder in (path, *path.parents) if folder.exists())
    require(existing.is_dir(), f"{existing} is a file")
    return path


def _certificates(text: str) -> str:
    if not Path(text).is_dir():
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(_file(text))
    return text


def _storage_url(text: str) -> str:
    match = _STORAGE.fullmatch(text)
    require(match)
    _split(text)
    package = match and match[1]
    require(not package or find_spec(package), f"the Python package {package} is not installed")
    return text


def _networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(","))


class ProxyHeader(NamedTuple):
    """A header that is believed of peers in some networks alone."""

    name: str
    networks: tuple[Network, ...]


def _proxy_header(text: str) -> ProxyHeader:
    name, has_networks, networks_ = text.partition(" from ")
    require(re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,99}", name))
    require(name.lower() not in _OTHER_HEADERS, "this header has another meaning")
    return ProxyHeader(name, _networks(networks_ if has_networks else _OWN_MACHINE))


_STORAGES = "a storage that can count, such as memory:// or redis://host:6379"
# The kinds that all settings share; an extension may have kinds of its own.
https_url = Kind("https URL", "an https URL without user, query and fragment", _https_url)


def site_url(text: str) -> str:
    """Return a URL such as `https://explorer.example.org`, without a slash at its end."""
    url = text.removesuffix("/")
    reason = "must be an http(s) URL without a path; SCAN_BASE_PATH is the path"
    require(re.fullmatch(r"https?://[A-Za-z0-9.:\[\]-]{1,255}", url), reason)
    return url


origin = Kind("origin", "an http:// or https:// URL without a path", site_url)
base_path = Kind("base path", "a path such as /bsc", _base_path)
primary_url = Kind("primary", "a postgresql:// URL", _primary_url, absolute_parameters)
replica_url = Kind("replica", "a postgresql:// URL", _replica_url, absolute_parameters)
node_urls = Kind(
    "nodes",
    "http:// or https:// URLs or paths of IPC sockets, separated by commas",
    _node_urls,
    redact=node_origins,
)
host = Kind("host", "an address of this machine, or 0.0.0.0 or :: for all of them", _host)
existing_file = Kind("file", "a file that exists", _file, absolute_path)
folder = Kind("folder", "a folder, which need not exist yet", _folder, absolute_path)
certificates = Kind(
    "certificates", "a file or folder of certificates in PEM", _certificates, absolute_path
)
rate = _text_kind("rate", "a rate such as 10/minute or 1000 per 2 hours", _RATE.fullmatch)
storage_url = Kind("storage", _STORAGES, _storage_url, absolute_parameters)
proxy_header = Kind(
    "header",
    "a header such as X-Forwarded-User, or X-Forwarded-User from 10.0.0.0/8",
    _proxy_header,
)
networks = Kind(
    "networks", "networks such as 10.0.0.0/8 or fd00::/8, separated by commas", _networks
)
