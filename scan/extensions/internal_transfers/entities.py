"""Internal transfers among the entities that can be filtered."""

from scan.extensions.internal_transfers import queries
from scan.queries.hooks import Entities

HOOKS = Entities(pages={"internal_transfers": queries.page})
