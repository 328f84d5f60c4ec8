"""`scan sql-role`: a role for reading the chain's tables and views by SQL, and nothing else."""

import argparse
import re
import secrets
from contextlib import closing
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from scan.commands.startup import connected, settings_with_database
from scan.database.connection import Database
from scan.database.server_faults import known_faults
from scan.errors import ScanError
from scan.observability.logs import print_lines
from scan.settings import Settings

NAME = re.compile(r"(?!pg_)[a-z][a-z0-9_]{0,30}")
# Rights that remain where the role of DATABASE_URL cannot revoke them.
LEFT = (
    "it may create temporary tables, which fill the disk; let the database's owner run:"
    " REVOKE TEMPORARY ON DATABASE … FROM PUBLIC",
    "it may create tables; let the schema's owner run: REVOKE CREATE ON SCHEMA public FROM PUBLIC",
    "it may take the indexer's advisory locks, notify in its name, and fill the disk with WAL and"
    " large objects; let a superuser run in this database: SELECT revoke_public_rights()",
)
TIMEOUT = re.compile(r"[1-9][0-9]{0,5}(ms|s|min)")

DESCRIPTION = """\
Creates a role of PostgreSQL that can only read the chain's tables and the views of schema v1, not
API keys, webhooks or their secrets, and prints its URL with a random password. An existing role
gets a new password. DATABASE_URL must be of a role that may create roles. See docs/sql.md."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.description = DESCRIPTION
    command.set_defaults(run=create)
    command.add_argument("name", type=_name, metavar="NAME")
    command.add_argument(
        "--statement-timeout", type=_time, default="60s", metavar="TIME", help="60s by default"
    )


def _name(text: str) -> str:
    if not NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(
            "a role's name has a-z, 0-9 and _, at most 31 characters, a letter first and no pg_"
        )
    return text


def _time(text: str) -> str:
    if not TIMEOUT.fullmatch(text):
        raise argparse.ArgumentTypeError("must be a time such as 30s or 5min")
    return text


def create(settings: Settings, options: argparse.Namespace) -> int:
    """Create the role, or give an existing one a new password. The password is printed, and stored
    nowhere else."""
    password = secrets.token_hex(16)
    settings = settings_with_database(settings)
    with connected(settings, "scan-sql-role") as database:
        database.rows(
            "commands/sql_role_create",
            name=options.name,
            password=password,
            statement_timeout=options.statement_timeout,
        )
        [(*rights, version)] = database.rows("commands/sql_role_get_rights", name=options.name)
    url = _url(settings.database_url, options.name, password)
    print_lines(f"role      {options.name}", f"password  {password}", f"URL       {url}")
    print_lines("It may read the tables and the views of schema v1; see docs/sql.md.")
    left = (text for text, is_left in zip(LEFT, rights, strict=True) if is_left)
    print_lines(*(f"warning: {text}" for text in left))
    if (faults := known_faults(version)) is not None:
        print_lines(f"warning: {faults.text}; {faults.advice}")
    with closing(Database(url, statement_timeout_ms=5000, name="scan-sql-role")) as database:
        try:
            database.value("database/databases_get_name")
        except ScanError as error:
            print_lines(f"warning: it cannot log in from here: {error.for_operators}")
            print_lines(f"pg_hba.conf needs a line: host all {options.name} ADDRESS scram-sha-256")
            return 1
    return 0


def _url(database_url: str, name: str, password: str) -> str:
    """Return the URL of a database for another role."""
    parts = urlsplit(database_url)
    pairs = [pair for pair in parse_qsl(parts.query) if pair[0] not in ("user", "password")]
    netloc = f"{name}:{password}@{parts.netloc.rpartition('@')[2]}"
    query = urlencode(pairs, safe="/,:", quote_via=quote)
    return urlunsplit(parts._replace(netloc=netloc, query=query))
