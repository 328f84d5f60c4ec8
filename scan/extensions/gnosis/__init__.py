"""Gnosis Chain and Chiado: nothing is burnt, and the bridge mints the coin.

network-upgrades/london.md and pectra.md of gnosischain/specs: a collector gets base fees, and since
Pectra fees for blobs. execution/posdao-post-merge.md: at the end of each block the reward contract
mints the coin that it announced by AddedReceiver of poanetwork/posdao-contracts when the bridge
called it. execution/withdrawals.md: a contract pays withdrawals in GNO, of 32 mGNO each.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of Gnosis Chain and Chiado")
