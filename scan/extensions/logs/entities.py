"""Logs among the entities that can be filtered."""

from scan import hooks
from scan.extensions.logs import queries

HOOKS = hooks.Entities(pages={"logs": queries.page_by_filters})
