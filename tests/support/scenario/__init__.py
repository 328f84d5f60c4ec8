"""A chain worth reading: the same blocks every time, from honest tokens to poison."""

from tests.support.scenario.contracts import creations, failures
from tests.support.scenario.everyday import everyday
from tests.support.scenario.exchanges import exchanges, odd_pools
from tests.support.scenario.hostile_tokens import poison_events, poison_metadata, shape_shifters
from tests.support.scenario.malformed_logs import malformed_logs
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import collections, honest_tokens, wrappers
from tests.support.scenario.transactions import kinds_of_transaction, plain_transfers


def play(anvil, rounds=40, poison=True):
    """Plays every act once, then `rounds` blocks of everyday life; 110 blocks more."""
    stage = Stage(anvil)
    for act in (*HONEST_ACTS, *(POISON_ACTS if poison else ())):
        act(stage)
    for _ in range(rounds):
        everyday(stage, stage.random.randint(0, 9))
    return stage


BASIC_ACTS = (honest_tokens, collections, wrappers, exchanges, creations, failures)
HONEST_ACTS = (*BASIC_ACTS, kinds_of_transaction, plain_transfers)
POISON_ACTS = (odd_pools, poison_metadata, poison_events, shape_shifters, malformed_logs)
