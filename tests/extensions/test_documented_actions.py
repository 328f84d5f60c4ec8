"""Etherscan's documented actions: those of scan.extensions.markets are among them."""

import pytest

from scan.extensions.etherscan.interface import NOT_OFFERED, PUBLISHED
from scan.extensions.etherscan.tests import actions_document
from scan.extensions.etherscan.tests.actions_document import DOCUMENTED

pytestmark = pytest.mark.check


def test_each_documented_action_is_answered_or_has_its_reason():
    documented = {(module, n.lower()) for module, names in DOCUMENTED.items() for n in names}
    answered = {(module, n.lower()) for module, names in PUBLISHED.items() for n in names}
    assert documented <= answered | NOT_OFFERED.keys()
    assert not answered & NOT_OFFERED.keys()


def test_the_guide_lists_the_actions_as_they_are():
    assert actions_document.DOCUMENT.read_text(encoding="utf-8") == actions_document.whole(), (
        "run python -m scan.extensions.etherscan.tests.actions_document"
    )
