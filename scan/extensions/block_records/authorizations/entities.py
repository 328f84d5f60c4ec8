"""Authorizations among the entities that can be filtered."""

from scan import hooks
from scan.extensions.block_records.authorizations import queries

HOOKS = hooks.Entities(pages={"authorizations": queries.page})
