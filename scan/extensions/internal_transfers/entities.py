"""Internal transfers among the entities that can be filtered."""

from scan import hooks
from scan.extensions.internal_transfers import queries

HOOKS = hooks.Entities(pages={"internal_transfers": queries.page})
