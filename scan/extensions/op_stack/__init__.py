"""OP Stack: OP Mainnet, Base, opBNB, World Chain and others; `anvil --network optimism`.

Fees and deposits: https://specs.optimism.io/protocol/exec-engine.html and deposits.html; operator
fees: isthmus/exec-engine.html, jovian/exec-engine.html; L1 attributes: */l1-attributes.html;
withdrawalsRoot: isthmus/exec-engine.html. Receipts of deposits: canyon/overview.html; before Canyon
their nonce is in JSON and in no root. Transactions with refunds of gas: lagoon/post-exec.html and
lagoon/sdm.html. Milliseconds of Base's blocks: docs.base.org, upgrades/denim/200ms-blocks.
"""

from scan.registry import Extension

EXTENSION = Extension("blocks, fees and fields of OP Stack chains")
