"""The table of paths that differ from Blockscout's in the extension's README.md, which
`python -m scan.extensions.blockscout.tests.blockscout_document` writes."""

import re
from collections import defaultdict

from scan.extensions.blockscout.paths import STATS_PREFIX, answered_paths
from tests.support.serving import ROOT

DOCUMENT = ROOT / "scan/extensions/blockscout/README.md"
BEGIN = "<!-- generated from scan/extensions/blockscout/paths.toml -->"
END = "<!-- end -->"


def whole():
    head, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)
    # Paths that are not answered as at Blockscout, by what is said of them.
    by_remark = defaultdict(list)
    for path, answered in answered_paths().items():
        if answered.differs and not path.startswith(STATS_PREFIX):
            method = "" if answered.method == "GET" else f"{answered.method} "
            by_remark[answered.differs].append(re.sub(r"<(\w+)>", r"{\1}", f"{method}{path}"))
    rows = "".join(f"|{', '.join(paths)}|{remark}|\n" for remark, paths in by_remark.items())
    table = f"|Path|Answer|\n|---|---|\n{rows}"
    return f"{head}{BEGIN}\n\n{table}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    DOCUMENT.write_text(whole(), encoding="utf-8")
