"""A chain of many items in an empty database, derived by the indexer's own statements."""

import hashlib
from pathlib import Path

from scan.database.connection import Database
from scan.indexer.derivation import derive, read_block_range

SPAN_BLOCKS = 100


def address_of(kind, number):
    return "0x" + hashlib.sha256(f"{kind}{number}".encode()).digest()[:20].hex()


COLLECTION = address_of("collection", 0)  # has a third of all items
BAZAAR = address_of("bazaar", 0)  # a BEP1155, whose id 7 is moved most
PERSON = address_of("person", 0)  # has a fifth


def seed_items(url, transfers):
    database = Database(url, statement_timeout_ms=0)
    script = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
    database.execute_script(f"SET items.transfers = {transfers:d};\n{script}")
    database.execute_script("ANALYZE")
    for first in range(0, transfers // 100, SPAN_BLOCKS):
        last = min(first + SPAN_BLOCKS, transfers // 100) - 1
        with database.transaction() as tx:
            derive(tx, read_block_range(tx, first, last))
    database.execute_script("VACUUM ANALYZE")
    database.close()
