"""When a contract was active, which says whether what it answers is read again."""

from tests.support.database import execute
from tests.support.made_blocks import Move, address

CONTRACT, CALLER = address("contract"), address("caller")


def test_a_contract_is_active_where_it_is_called_also_by_itself(chain, database_url):
    """As an account with code (EIP-7702) may be: here in block 4."""
    moves = {
        1: [Move(CALLER, CONTRACT)],
        2: [Move(CONTRACT, CALLER)],
        4: [Move(CONTRACT, CONTRACT)],
    }
    for number in range(6):
        chain.append(moves.get(number, ()))
    first = "SELECT first_active_block(%s, since) FROM generate_series(0, 5) AS since"
    rows = execute(database_url, first, CONTRACT)
    assert [block for (block,) in rows] == [1, 1, 4, 4, 4, None]
    assert execute(database_url, "SELECT last_active_block(%s)", CONTRACT) == [(4,)]
