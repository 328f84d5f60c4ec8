"""deploy/Dockerfile without a daemon: its instructions carried out below another root.

Not the base image, its user and what COPY would leave out of a build's context.
"""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import requests

from tests.support import WAIT_S
from tests.support.folders import temporary_folder
from tests.support.scan_run import scan_run
from tests.support.serving import ROOT

pytestmark = pytest.mark.long


def test_the_entry_point_serves_the_demo_and_is_found_healthy():
    """Of what the first stage makes, in a folder that PostgreSQL's user can enter."""
    text = re.sub(r"^#.*\n", "", (ROOT / "deploy" / "Dockerfile").read_text(), flags=re.M)
    _, first, last = (
        [line.partition(" ")[::2] for line in stage.splitlines() if line]
        for stage in re.split(r"^FROM ", re.sub(r"\\\n\s*", "", text), flags=re.M)
    )
    installed = "/opt/scan"
    with temporary_folder("scan-image-") as root:
        build, folder = root / "build", root / "data"
        build.mkdir()

        def carry_out(instruction, arguments):
            if instruction == "COPY":
                *sources, target = arguments.split()
                for source in map(ROOT.joinpath, sources):
                    copy = shutil.copytree if source.is_dir() else shutil.copy
                    copy(source, build / target)
            elif instruction == "RUN":
                command = arguments.replace(installed, f"{root}{installed}")
                command = command.replace(" --no-cache-dir", "")  # which an image has no use for
                subprocess.run(
                    ["sh", "-c", command],
                    cwd=build,
                    env={**os.environ, "PIP_NO_COMPILE": "1"},  # most of it is never imported
                    check=True,
                    timeout=480,
                    stdout=sys.stderr,
                )

        for instruction, arguments in first:
            carry_out(instruction, arguments)
        shutil.rmtree(build)
        of = {name: [arguments for other, arguments in last if other == name] for name, _ in last}
        environment = dict(pair.split("=", 1) for line in of["ENV"] for pair in line.split())
        path = environment["PATH"].replace(installed, f"{root}{installed}")
        path = path.replace("$PATH", os.environ["PATH"])
        [entry_point], [command] = of["ENTRYPOINT"], of["CMD"]
        assert json.loads(command) == ["run"] and of["STOPSIGNAL"] == ["SIGTERM"]
        [program] = json.loads(entry_point)
        folder.mkdir(mode=0o755)
        executable = shutil.which(program, path=path)
        assert executable is not None and executable.startswith(str(root))
        with scan_run([executable], folder, PATH=path, HOST=environment["HOST"]) as scan:
            scan.wait_for_block(718, or_later=True)
            assert requests.get(f"{scan.url}/api/v1/stats", timeout=WAIT_S).ok
            [check] = of["HEALTHCHECK"]
            words = json.loads(check.partition("CMD ")[2])
            port = scan.url.rpartition(":")[2]
            assert environment["PORT"] in words[-1]
            words[-1] = words[-1].replace(environment["PORT"], port)
            subprocess.run(words, check=True, timeout=WAIT_S, env={"PATH": path})
        assert "Traceback" not in (folder / "output").read_text()
