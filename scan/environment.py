"""Variables of the environment: how each is declared, read and parsed."""

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from scan import registry
from scan.errors import SettingError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_RATE = re.compile(
    r"[1-9][0-9]{0,8}\s*(?:/|\s+per\s+)\s*(?:[1-9][0-9]{0,4}\s*)?(?:second|minute|hour|day)s?"
)
# First names of Scan's own paths, as registry.reserved_paths() has those of extensions.
_OWN_PATHS = {
    *("blocks", "contracts", "favicon.ico", "healthz", "keys", "live"),
    *("readyz", "token-transfers", "tokens", "trades", "txs", "watchlist", "webhooks"),
    *("address/", "api/", "block/", "static/", "token/", "tx/"),
}


class Variable(NamedTuple):
    """A variable as docs/settings.md lists it, with its default and its meaning in Markdown."""

    name: str
    parse: Callable[[str], Any]
    default: str
    meaning: str


def setting(
    name: str, parse: Callable[[str], Any], default: str, meaning: str, *, unset: Any = ...
) -> Any:
    """Declare the field of a frozen dataclass that a variable gives.

    `default` is the variable's text by default; with `unset`, which is the field's value then, a
    phrase for it.
    """
    if unset is ...:
        unset, default = parse(default), f"`{default}`"
    return field(default=unset, metadata={Variable: Variable(name, parse, default, meaning)})


def variables(declared: type) -> Iterator[tuple[str, Variable]]:
    """Return the fields of a dataclass that variables give, with these."""
    for field_ in fields(declared):
        if Variable in field_.metadata:
            yield field_.name, field_.metadata[Variable]


def read_variables(declared: type, environ: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the variables that are given, by field. Raises SettingError."""
    given = (
        (name, variable, environ.get(variable.name, "").strip())
        for name, variable in variables(declared)
    )
    return {name: _parsed(variable, text) for name, variable, text in given if text}


def _parsed(variable: Variable, text: str) -> Any:
    try:
        return variable.parse(text)
    except ValueError as error:
        raise SettingError(variable.name, without_password(text), str(error)) from None


def without_password(text: str) -> str:
    """Return a URL with its password hidden, both before the host and among the parameters."""
    text = re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)
    return re.sub(r"(password\s*=\s*)('[^']*'?|[^&\s]*)", r"\1***", text)


def integer(least: int, most: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,18}", text, re.ASCII) or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return parse


def one_of(*words: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return parse


def switch(true: str, false: str) -> Callable[[str], bool]:
    """Parse one of two words."""
    return lambda text: one_of(true, false)(text) == true


def https_url(text: str) -> str:
    if not re.fullmatch(r"https://[A-Za-z0-9.\-_\[\]:]+(/[!-~]*)?", text) or set("?#@") & set(text):
        raise ValueError("must be an https URL without user, query and fragment")
    return text


def short_text(max_characters: int) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if len(text) > max_characters or not text.isprintable():
            raise ValueError(f"must have at most {max_characters} printable characters")
        return text

    return parse


def base_path(text: str) -> str:
    """Return a base path without the slash at its end, so that our paths can follow it."""
    if not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", text):
        raise ValueError("must be a path such as /bsc")
    first, *below = text.strip("/").split("/")
    reserved = _OWN_PATHS | registry.reserved_paths()
    if f"{first}/" in reserved or (first in reserved and not below):
        raise ValueError(f"/{first} is a path of Scan itself")
    if {".", ".."} & {first, *below}:
        raise ValueError("clients remove . and .. from a path")
    return text.rstrip("/")


def primary_url(text: str) -> str:
    """Return a URL of the database. Refuse several hosts without target_session_attrs=read-write.

    Without it, libpq takes the first host that answers: a standby, or an old primary that is back
    after a failover and does not know of it.
    """
    address = urlsplit(replica_url(text))
    query = dict(parse_qsl(address.query))  # of a repeated parameter, libpq also takes the last
    hosts = (
        unquote(address.netloc.rpartition("@")[2]),
        query.get("host", ""),
        query.get("hostaddr", ""),
    )
    if any("," in host for host in hosts) and query.get("target_session_attrs") != "read-write":
        raise ValueError("several hosts need target_session_attrs=read-write")
    return text


def replica_url(text: str) -> str:
    address = urlsplit(text)
    if address.scheme not in ("postgresql", "postgres"):
        raise ValueError("must be a postgresql:// URL")
    if "," not in address.netloc:  # of several hosts, each may have a port
        _require_port(address)
    return text


def node_urls(text: str) -> tuple[str, ...]:
    urls = tuple(part.strip() for part in text.split(","))
    for url in urls:
        if url.startswith("/"):  # a Unix socket, which may come into being later
            continue
        address = urlsplit(url)
        if address.scheme not in ("http", "https") or not address.hostname:
            raise ValueError(
                "must be http:// or https:// URLs or paths of IPC sockets, separated by commas"
            )
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


def existing_path(text: str) -> str:
    if not Path(text).exists():
        raise ValueError("no such file or directory")
    return text


def rate(text: str) -> str:
    if not _RATE.fullmatch(text):
        raise ValueError("must be a rate such as 10/minute or 1000 per 2 hours")
    return text


def storage_url(text: str) -> str:
    if not re.match(r"[a-z0-9+]+://", text):
        raise ValueError("must be a storage URL such as memory:// or redis://host:6379")
    return text


def networks(text: str) -> tuple[Network, ...]:
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(","))
