"""The software bill of materials of a release: `bill_of_materials.py PYTHON REQUIREMENTS OUTPUT`.

PYTHON is that of an environment with the wheel and the locked REQUIREMENTS. What is installed there
says licences and what needs what, and has no packages of other systems; the lock has the hashes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CYCLONEDX = Path(sys.executable).with_name("cyclonedx-py")
NAME = "scan"


def described(*source: str) -> dict[str, Any]:
    """Return what cyclonedx-py says of a source."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        options = ("--output-reproducible", "--output-file", file.name)
        subprocess.run([CYCLONEDX, source[0], *options, *source[1:]], check=True)
        return dict(json.loads(Path(file.name).read_text()))


def bill_of_materials(python: str, requirements: str) -> dict[str, Any]:
    """Return the bill, whose main component is Scan."""
    bill = described("environment", python)
    locked = described("requirements", requirements)["components"]
    hashes = {component["purl"]: component["externalReferences"] for component in locked}
    [own] = (component for component in bill["components"] if component["name"] == NAME)
    bill["components"].remove(own)
    # The name is another project's in the index that pkg:pypi means.
    purl = own["purl"].replace("pkg:pypi/", "pkg:generic/")
    bill["metadata"]["component"] = {**own, "type": "application", "purl": purl}
    for component in bill["components"]:
        component["externalReferences"] += hashes[component["purl"]]
    return bill


if __name__ == "__main__":
    text = json.dumps(bill_of_materials(*sys.argv[1:3]), indent=1)
    Path(sys.argv[3]).write_text(f"{text}\n")
