"""The actions that are not answered, in docs/compatible.md:
`python -m scan.extensions.etherscan.tests.actions_document`."""

import tomllib
from textwrap import fill

from scan.extensions.etherscan.interface import NOT_OFFERED
from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "compatible.md"
BEGIN = "<!-- generated from scan/extensions/etherscan/not_offered.toml -->"
# By module, those of Etherscan's documentation: others are Blockscout's.
DOCUMENTED = tomllib.loads(
    (ROOT / "scan/extensions/etherscan/tests/documented_actions.toml").read_text(encoding="utf-8")
)


def generated():
    """Their names: `result` of each has the reason."""
    names = ", ".join(dict.fromkeys(action for _, action in NOT_OFFERED))
    return fill(f"Not answered, each with its reason in `result`: {names}.", 120)


def whole():
    return with_generated(DOCUMENT, BEGIN, generated())


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
