"""`scan audit` run in this process, and statements that spoil what it reads."""

from argparse import Namespace

import psycopg2

from scan.commands import audit

EXACT, DIFFERS = audit.EXACT, audit.DIFFERS  # what run() returns
# By range of balance, as of large tokens.
COUNT_HOLDERS = """
    INSERT INTO token_holder_ranges (token_address, balance_range, holder_count)
    SELECT token_address, holder_range(balance, holder), count(*)
    FROM token_holders WHERE balance > 0 GROUP BY 1, 2
"""


def run(settings, **options):
    chosen = {"repair": False, "node": False, "blocks": 0, "digest": False}
    chosen |= {"first": None, "last": None, **options}
    return audit.audit(settings, Namespace(**chosen))


def spoil(settings, statement):
    connection = psycopg2.connect(settings.database_url)
    with connection, connection.cursor() as cursor:
        cursor.execute(statement)
        assert cursor.rowcount > 0
    connection.close()
