"""Writes a made chain as a recording: `python -m tests.support.chain_forms arbitrum FILE`."""

import sys
from pathlib import Path

from scan.extensions.demo.chain_recording import pack
from tests.support.chain_forms.forms import FORMS

name, path = sys.argv[1:]
Path(path).write_bytes(pack(FORMS[name]().lines()))
