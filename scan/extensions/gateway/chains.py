"""The file of chains: a table in TOML for each, whose name is the chain's path.

[bsc]
chain_id = 56
name = "BNB Chain"
url = "http://127.0.0.1:8101"       # its service, for `scan gateway`
RPC_URL = "http://127.0.0.1:8545"   # its environment, for `scan run --chains`

Paths are relative to the folder of the file: the gateway reads it in another working directory.
"""

import re
import tomllib
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

from scan.errors import SettingError
from scan.settings import Settings, with_absolute_paths

MAX_CHAINS = 100
_OWN_KEYS = {"chain_id", "name", "url"}
_PATH = re.compile(r"[a-z0-9][a-z0-9-]{0,30}")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_URL = re.compile(r"https?://[A-Za-z0-9.\[\]:-]+?(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?")
# Variables that `scan run --chains` itself sets for the process of a chain.
_SET_HERE = set(
    """
    HOST PORT SCAN_BASE_PATH SCAN_CHAIN_NAME SCAN_DATA_DIR SCAN_TRUSTED_PROXIES WEB_CONCURRENCY
    """.split()
)


class Chain(NamedTuple):
    """A chain: its path without slashes, its service's URL, its process's environment."""

    path: str
    chain_id: int
    name: str
    url: str
    environment: Mapping[str, str]


def read_chains(file: Path, settings: Settings) -> tuple[Chain, ...]:
    """Return the chains of a file; raises SettingError.

    The nth chain, where it has no `url`, is served at the port PORT + n.
    """
    try:
        tables = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError("chains", str(file), f"cannot be read: {error}") from None
    with chdir(file.absolute().parent):
        chains = tuple(
            _chain(path, table, settings.port + number)
            for number, (path, table) in enumerate(tables.items(), 1)
        )
    if not 1 <= len(chains) <= MAX_CHAINS:
        raise SettingError("chains", str(file), f"must contain 1 to {MAX_CHAINS} tables")
    if len({chain.chain_id for chain in chains}) < len(chains):
        raise SettingError("chains", str(file), "has the same chain_id twice")
    return chains


def _chain(path: str, table: Any, port: int) -> Chain:
    def refuse(key: str, value: object, reason: str) -> SettingError:
        return SettingError(f"{key} of the chain {path}", str(value), reason)

    if not _PATH.fullmatch(path) or not isinstance(table, dict):
        raise refuse("the table", path, "must be a table named by lower-case letters and digits")
    chain_id, name = table.get("chain_id"), table.get("name", path)
    url = table.get("url", f"http://127.0.0.1:{port}")
    if type(chain_id) is not int or not 0 < chain_id < 2**63:
        raise refuse("chain_id", chain_id, "must be the number that the node's eth_chainId returns")
    if not isinstance(url, str) or not _URL.fullmatch(url):
        raise refuse("url", url, "must be the http or https URL of the chain's service")
    variables = {key: str(value) for key, value in table.items() if key not in _OWN_KEYS}
    for key in variables:
        if not _VARIABLE.fullmatch(key) or key in _SET_HERE:
            raise refuse(key, table[key], "is no environment variable that may be set here")
    as_run = {"SCAN_BASE_PATH": f"/{path}", "SCAN_CHAIN_NAME": str(name)}
    environment = with_absolute_paths(variables | as_run)
    Settings.from_environment(environment)  # raises SettingError
    return Chain(path, chain_id, str(name), url.rstrip("/"), environment)
