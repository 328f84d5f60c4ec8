"""The actions that are not answered, in docs/compatible.md:
`python -m scan.extensions.etherscan.tests.actions_document`."""

import tomllib

from scan.extensions.etherscan.interface import NOT_OFFERED
from tests.support.documents import with_generated
from tests.support.serving import ROOT

DOCUMENT = ROOT / "docs" / "compatible.md"
BEGIN = "<!-- generated from scan/extensions/etherscan/interface.py and not_offered.py -->"
# By module, those of Etherscan's documentation: others are Blockscout's.
DOCUMENTED = tomllib.loads(
    (ROOT / "scan/extensions/etherscan/tests/documented_actions.toml").read_text(encoding="utf-8")
)


def generated():
    """A line for each reason."""
    lines = ["| Not answered | Because |", "|---|---|"]
    for reason in dict.fromkeys(NOT_OFFERED.values()):
        names = [action for (_, action), given in NOT_OFFERED.items() if given == reason]
        lines.append(f"| {', '.join(names)} | {reason} |")
    return "\n".join(lines)


def whole():
    return with_generated(DOCUMENT, BEGIN, generated())


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
