"""Authorizations among the entities that can be filtered."""

from scan.extensions.block_records import queries
from scan.queries.hooks import Entities

HOOKS = Entities(pages={"authorizations": queries.page})
