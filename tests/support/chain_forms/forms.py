"""All forms of chains that are made here, by name."""

from tests.support.chain_forms import new_rollups, others
from tests.support.chain_forms.rollups import ROLLUPS

FORMS = {make.__name__: make for make in (*ROLLUPS, *new_rollups.NEW_ROLLUPS, *others.OTHERS)}
