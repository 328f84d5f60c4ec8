"""All forms of chains that are made here, by name."""

from tests.support.chain_forms.new_rollups import NEW_ROLLUPS
from tests.support.chain_forms.others import OTHERS
from tests.support.chain_forms.rollups import ROLLUPS

FORMS = {make.__name__: make for make in (*ROLLUPS, *NEW_ROLLUPS, *OTHERS)}
