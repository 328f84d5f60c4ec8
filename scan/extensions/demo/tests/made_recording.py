"""Writes a made chain as a recording: `-m scan.extensions.demo.tests.made_recording NAME FILE`."""

import sys
from pathlib import Path

from scan.extensions.demo.chain_recording import pack
from tests.support.chain_forms.forms import FORMS

name, path = sys.argv[1:]
Path(path).write_bytes(pack(FORMS[name]().lines()))
