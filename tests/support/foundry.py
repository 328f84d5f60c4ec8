"""forge and cast, the programs themselves: npm's launchers exit with 0 whatever those did."""

import os
import subprocess
from pathlib import Path

from tests.support.solidity import NODE


class Foundry:
    """A project in a folder of its own."""

    def __init__(self, folder: Path, settings: str, environment: dict[str, str]) -> None:
        self.folder = folder
        self._environment = environment
        (folder / "foundry.toml").write_text(settings)
        (folder / "src").mkdir()

    def forge(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("forge", arguments)

    def cast(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("cast", arguments)

    def _run(self, name: str, arguments: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        [program] = (NODE / "node_modules/@foundry-rs").glob(f"{name}-*/bin/{name}")
        return subprocess.run(
            [program, *arguments],
            cwd=self.folder,
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"], **self._environment},
            capture_output=True,
            text=True,
            timeout=120,
        )
