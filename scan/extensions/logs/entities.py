"""Logs among the entities that can be filtered."""

from scan.extensions.logs import queries
from scan.queries.hooks import Entities

HOOKS = Entities(pages={"logs": queries.page_by_filters})
