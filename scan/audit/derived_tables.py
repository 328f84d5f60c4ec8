"""`scan audit`: derived values counted anew and mended, rows compared with the node.

Exit codes: 0 all is exact, or has been made so; 1 something differs; 2 it could not be told.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.ethereum.blocks import Malformed
from scan.ethereum.client import Node, NodeError
from scan.indexer.writer import NotTheWriter, Writer
from scan.settings import Settings


class Derivation(NamedTuple):
    """Statements that compute what a table should hold, tell what differs, and mend it."""

    expect: str
    compare: str
    repair: str


# In this order: what holders hold is counted before who holds each token.
DERIVED = {
    "blocks": Derivation("audit/blocks_expect", "audit/blocks_compare", "audit/blocks_repair"),
    "token_holders": Derivation(
        "audit/token_holders_expect", "audit/token_holders_compare", "audit/token_holders_repair"
    ),
    "tokens": Derivation("audit/tokens_expect", "audit/tokens_compare", "audit/tokens_repair"),
    "dexes": Derivation("audit/dexes_expect", "audit/dexes_compare", "audit/dexes_repair"),
    "addresses": Derivation(
        "audit/addresses_expect", "audit/addresses_compare", "audit/addresses_repair"
    ),
    "list_checkpoints": Derivation(
        "audit/list_checkpoints_expect",
        "audit/list_checkpoints_compare",
        "audit/list_checkpoints_repair",
    ),
    "chain": Derivation("audit/chain_expect", "audit/chain_compare", "audit/chain_repair"),
}
MOST_TOLD = 20
EXACT, DIFFERS, UNTOLD = 0, 1, 2
# Sorts and joins over whole tables: room for them, since nothing else runs in this session.
SESSION = "-c work_mem=256MB -c max_parallel_workers_per_gather=2"


class Difference(NamedTuple):
    """`stored` and `expected` hold the fields that differ; None where there is no row."""

    place: str
    stored: dict[str, Any] | None
    expected: dict[str, Any] | None

    def __str__(self) -> str:
        if self.stored is None or self.expected is None:
            missing = "is missing" if self.stored is None else "should not be there"
            return f"{self.place} {missing}"
        fields = (
            f"{name} is {self.stored.get(name)}, should be {value}"
            for name, value in self.expected.items()
            if self.stored.get(name) != value
        )
        return f"{self.place}: {'; '.join(fields)}"


def run(settings: Settings, options: argparse.Namespace) -> int:
    database = Database(
        settings.database_url, statement_timeout_ms=0, name="scan-audit", session=SESSION
    )
    try:
        if options.digest:
            return _digest(database)
        if options.repair:
            Writer(database).become_the_only_one()
        code = _audit_rows(database, repair=options.repair)
        if options.node:
            node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
            code = max(code, _audit_node(database, node, settings, options.blocks))
        return code
    except NotTheWriter:
        say("an indexer writes to this database: stop it before --repair")
    except (NodeError, Malformed) as error:
        say(f"the node cannot be compared with: {error}")
    finally:
        database.close()
    return UNTOLD


def say(line: str) -> None:
    print(line, flush=True)


def _digest(database: Database) -> int:
    for table, rows, digest in database.rows("audit/tables_digest"):
        say(f"{table:18} {rows:>12} {digest}")
    return EXACT


def _audit_rows(database: Database, *, repair: bool) -> int:
    """Over one snapshot, so that an indexer may write on."""
    code = EXACT
    with database.transaction(snapshot=True) as tx:
        began = time.monotonic()
        wrong = tx.rows("audit/base_create")
        count = sum(row[1] for row in wrong)
        lines = [f"{what}: {rows}, such as {place}" for what, rows, place in wrong]
        _tell("rows contradict each other", count, began, lines)
        if wrong:
            say("  nothing recomputes these rows: index anew into an empty database")
            code = DIFFERS
        for table in DERIVED:
            differences = _audit_table(tx, table)
            if differences and repair:
                tx.execute(DERIVED[table].repair)
                say(f"  mended {table}")
            elif differences:
                code = DIFFERS
        if repair:
            tx.execute("indexer/chain_notify")
    return code


def _audit_table(tx: Transaction, table: str) -> int:
    began = time.monotonic()
    tx.execute(DERIVED[table].expect)
    rows = tx.rows(DERIVED[table].compare, most=MOST_TOLD)
    count = int(rows[0][3]) if rows else 0
    _tell(f"{table} differ", count, began, [str(Difference(*row[:3])) for row in rows])
    if count > len(rows):
        say(f"  and {count - len(rows)} more")
    return count


def _tell(what: str, count: int, began: float, lines: Sequence[str]) -> None:
    say(f"{what}: {count} ({time.monotonic() - began:.1f} s)")
    for line in lines:
        say(f"  {line}")


def _audit_node(database: Database, node: Node, settings: Settings, blocks: int) -> int:
    from scan.audit.node_comparison import NodeAudit

    is_terminal = sys.stderr.isatty()
    audit = NodeAudit(database, node, settings)
    began = told_at = time.monotonic()
    found = 0
    spans = audit.spans(blocks)
    total = sum(last - first + 1 for first, last in spans)
    for first, last in spans:
        for line in audit.compare(first, last):
            found += 1
            if found <= MOST_TOLD:
                say(f"  {line}")
        now = time.monotonic()
        if is_terminal or now - told_at > 5.0:
            told_at = now
            share = audit.compared / total
            left_s = (now - began) / share * (1 - share)
            print(
                f"\rcompared {audit.compared} of {total} blocks ({share:.0%}), {left_s:.0f} s left",
                end="" if is_terminal else "\n",
                file=sys.stderr,
                flush=True,
            )
    if is_terminal:
        print(file=sys.stderr)
    say(f"blocks that differ from the node's: {found} differences in {audit.compared} blocks")
    for reason, count in audit.skipped.items():
        say(f"  roots not computed in {count} blocks: {reason}")
    return DIFFERS if found else EXACT
