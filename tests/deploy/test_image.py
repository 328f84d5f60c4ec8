"""deploy/Dockerfile without a daemon: its instructions carried out below another root.

Not the base image, its user and what COPY would leave out of a build's context.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import namedtuple

import pytest
import requests

from tests.support import WAIT_S
from tests.support.folders import temporary_folder
from tests.support.scan_run import scan_run
from tests.support.serving import ROOT

pytestmark = pytest.mark.long
INSTALLED = "/opt/scan"


class Stage(namedtuple("Stage", "instructions")):
    def of(self, name):
        return [arguments for instruction, arguments in self.instructions if instruction == name]


def stages():
    text = (ROOT / "deploy" / "Dockerfile").read_text()
    lines = re.sub(r"\\\n\s*", "", re.sub(r"^#.*\n", "", text, flags=re.M)).splitlines()
    result = []
    for name, _, arguments in (line.partition(" ") for line in lines if line):
        if name == "FROM":
            result.append(Stage([]))
        elif result:
            result[-1].instructions.append((name, arguments))
    return result


@pytest.fixture(scope="module")
def root():
    """What the first stage makes, in a folder that PostgreSQL's user can enter."""
    with temporary_folder("scan-image-") as root:
        build = root / "build"
        build.mkdir()
        for instruction, arguments in stages()[0].instructions:
            if instruction == "COPY":
                *sources, target = arguments.split()
                for source in map(ROOT.joinpath, sources):
                    if source.is_dir():
                        shutil.copytree(source, build / target)
                    else:
                        shutil.copy(source, build / target)
            elif instruction == "RUN":
                command = arguments.replace(INSTALLED, f"{root}{INSTALLED}")
                command = command.replace(" --no-cache-dir", "")  # which an image has no use for
                subprocess.run(
                    ["sh", "-c", command],
                    cwd=build,
                    env={**os.environ, "PIP_NO_COMPILE": "1"},  # most of it is never imported
                    check=True,
                    timeout=480,
                    stdout=sys.stderr,
                )
        shutil.rmtree(build)
        yield root


def test_the_entry_point_serves_the_demo_and_is_found_healthy(root):
    [_, last] = stages()
    environment = dict(pair.split("=", 1) for line in last.of("ENV") for pair in line.split())
    path = environment["PATH"].replace(INSTALLED, f"{root}{INSTALLED}")
    path = path.replace("$PATH", os.environ["PATH"])
    [entry_point], [command] = last.of("ENTRYPOINT"), last.of("CMD")
    assert json.loads(command) == ["run"] and last.of("STOPSIGNAL") == ["SIGTERM"]
    [program] = json.loads(entry_point)
    folder = root / "data"
    folder.mkdir(mode=0o755)
    executable = shutil.which(program, path=path)
    assert executable is not None and executable.startswith(str(root))
    with scan_run([executable], folder, PATH=path, HOST=environment["HOST"]) as scan:
        scan.wait_for_block(718, or_later=True)
        assert requests.get(f"{scan.url}/api/v1/stats", timeout=WAIT_S).ok
        [check] = last.of("HEALTHCHECK")
        words = json.loads(check.partition("CMD ")[2])
        port = scan.url.rpartition(":")[2]
        assert environment["PORT"] in words[-1]
        words[-1] = words[-1].replace(environment["PORT"], port)
        subprocess.run(words, check=True, timeout=WAIT_S, env={"PATH": path})
    assert "Traceback" not in (folder / "output").read_text()
