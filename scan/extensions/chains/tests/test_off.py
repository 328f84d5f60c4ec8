"""Chains whose forms are switched off."""

import os
import sys

from tests.support.serving import ROOT, completed


def test_a_chain_whose_form_is_off_is_not_indexed():
    program = (
        "from scan.ethereum.forms.matching import require_form;"
        "require_form(1); print('Ethereum'); require_form(10)"
    )
    environ = os.environ | {"SCAN_EXTENSIONS": "none"}
    result = completed([sys.executable, "-c", program], cwd=ROOT, env=environ)
    assert result.stdout == "Ethereum\n"
    assert "the form of chain 10 is of the extension chains, which is off" in result.stderr
