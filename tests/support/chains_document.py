"""Adds the chains of viem's list (MIT) to scan/queries/chains.json; those that are there stay.

python -m tests.support.chains_document
"""

import json
import subprocess

from tests.support.serving import ROOT
from tests.support.solidity import NODE

CHAINS = ROOT / "scan/queries/chains.json"
LIST = """
import * as chains from "viem/chains";
const listed = Object.values(chains).map((c) => [c.id, c.name, c.nativeCurrency.symbol]);
console.log(JSON.stringify(listed));
"""


def listed_chains():
    """By chain id: name and symbol of the coin, of several the first one."""
    command = ["node", "--input-type=module", "-e", LIST]
    output = subprocess.run(command, cwd=NODE, check=True, capture_output=True).stdout
    chains = {}
    for chain_id, name, symbol in json.loads(output):
        chains.setdefault(str(chain_id), (name.removesuffix(" Mainnet"), symbol))
    return chains


def write():
    chains = {**listed_chains(), **json.loads(CHAINS.read_text())}
    rows = (
        f"  {json.dumps(chain_id)}: {json.dumps(chains[chain_id], ensure_ascii=False)}"
        for chain_id in sorted(chains, key=int)
    )
    CHAINS.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    write()
