"""Authorizations among the entities that can be filtered."""

from scan import hooks
from scan.extensions.authorizations import queries

HOOKS = hooks.Entities(pages={"authorizations": queries.page})
