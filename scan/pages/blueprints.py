"""The blueprints of pages."""

from flask import Blueprint

from scan import registry
from scan.pages import addresses, blocks_and_transactions, home, tokens
from scan.pages.hooks import Pages

_OF_CORE = (home, blocks_and_transactions, addresses, tokens)


def page_blueprints() -> list[Blueprint]:
    """Return the pages of the core and of extensions."""
    of_extensions = [own for pages in registry.parts(Pages) for own in pages.blueprints]
    return [*(module.blueprint for module in _OF_CORE), *of_extensions]
