"""Taiko: the first transaction of a block pays nothing, and base fees are divided.

core/state_processor.go, core/state_transition.go and consensus/taiko of taikoxyz/taiko-geth: the
golden touch account anchors L1's state by a block's first transaction. The producer gets the share
of base fees that extraData states: since Ontake all of extraData, since Shasta its first byte. The
rest goes to a treasury, whose address begins with the digits of the chain id.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Taiko")
