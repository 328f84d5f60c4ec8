"""The client that somebody else's program generates from the document."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.folders import run_folder
from tests.support.openapi_document import DOCUMENT
from tests.support.solidity import alone

BIN = Path(sys.executable).parent


@pytest.fixture(scope="session")
def client_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package scan_client, which the first worker that needs it generates."""
    folder = run_folder(tmp_path_factory) / "generated"
    with alone(folder):
        if not folder.exists():
            made = tmp_path_factory.mktemp("generated")
            document = made / "openapi.json"
            document.write_text(json.dumps(DOCUMENT))
            paths = ("--path", document, "--output-path", made / "scan_client")
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "openapi_python_client",
                    "generate",
                    "--meta",
                    "none",
                    "--fail-on-warning",
                    *paths,
                ],
                # It formats what it generates with ruff, which it looks for in PATH.
                env={**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"},
                capture_output=True,
                text=True,
                timeout=120,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            made.rename(folder)
    return folder
