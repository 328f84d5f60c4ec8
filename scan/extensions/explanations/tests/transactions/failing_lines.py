"""Contracts whose functions fail, each at a line that ends with a mark: `// fails: name`."""

from pathlib import Path

from tests.support.solidity import marked_line

FAILING = Path(__file__).with_name("Failing.sol").read_text()
PATH = "src/Failing.sol"
NAMES = tuple(
    "text bare plainRevert revertText custom named asserted add subtract multiply power"
    " divide modulo negate small element memoryElement fixedElement byteAt pop convert"
    " allocate pointer absent notThere passOn caught lowLevel transferred inModifier"
    " inLibrary inPrivate decoded sliced created assembled invalid gas delegated reentered".split()
)
# Marks of functions whose failure is elsewhere than in themselves.
MARKS = {"inModifier": "modifier", "inLibrary": "library"}
FUNCTIONS = {"inModifier": "onlyOwner", "inLibrary": "atMost", "inPrivate": "_two"}


def line_of(mark):
    return marked_line(FAILING, f"// fails: {mark}")
