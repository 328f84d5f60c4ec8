"""Contracts of Vyper, and its own compilers, installed by the product's own way."""

import json
import os
import tomllib
from collections import namedtuple
from pathlib import Path

from eth_abi.abi import encode

from scan.settings import Settings
from scan.verification.compiler_run import compile_source
from scan.verification.compiler_store import CompilerStore
from scan.verification.languages.vyper import VYPER
from tests.support.solidity import alone

NEWEST = "0.4.3"
SEVEN = f"{7:064x}"
SOURCES = Path(__file__).with_name("vyper_sources")

BOX = (SOURCES / "box.vy").read_text()


# The spelling of 0.4, that of releases before it, and since when that is.
_OLDER = (
    ("@deploy", "@external", "0.2.8"),
    ("@nonreentrant", '@nonreentrant("lock")', "0.2.8"),
    ("from ethereum.ercs import IERC20", "from vyper.interfaces import ERC20", "0.2.8"),
    ("IERC20", "ERC20", "0.2.8"),
    ("staticcall ", "", "0.2.8"),
    ("extcall ", "", "0.2.8"),
    (": uint256 in", " in", "0.2.8"),
    ("empty(address)", "empty(address)", "0.3.8"),
    ("empty(address)", "ZERO_ADDRESS", "0.2.8"),
    ("create_minimal_proxy_to", "create_minimal_proxy_to", "0.3.4"),
    ("create_minimal_proxy_to", "create_forwarder_to", "0.2.8"),
    ("flag ", "enum ", "0.3.4"),
    ("Order(", "Order({", "0.2.8"),
    ("=amount, paid=False)", ": amount, paid: False})", "0.2.8"),
    ("{maker=", "{maker: ", "0.2.8"),
)


def source_of(path, version):
    """A file of `vyper_sources/`, which is written for 0.4, as a release takes it."""
    text = (SOURCES / path).read_text()
    release = VYPER.kind.parse_version(version)
    if release >= (0, 4, 0):
        return text
    replaced = set()
    for new, old, since in _OLDER:
        if new not in replaced and release >= VYPER.kind.parse_version(since):
            text = text.replace(new, old)
            replaced.add(new)
    return text


def blueprint_of(creation):
    """Code that deploys creation code as a blueprint (ERC-5202)."""
    code = bytes.fromhex(f"fe7100{creation.removeprefix('0x')}")
    return f"61{len(code):04x}3d81600a3d39f3{code.hex()}"


class VyperContract(namedtuple("VyperContract", "kind version path sources arguments settings")):
    """A contract of `vyper_sources/contracts.toml` in one release. `arguments` are hex."""

    @property
    def has_hash(self):
        """Whether its code has a hash of the sources."""
        release = VYPER.kind.parse_version(self.version)
        return release >= (0, 4, 1) and self.settings.get("bytecodeMetadata", True)

    def standard_input(self, old="", new=""):
        """The input for the compiler, with a text replaced in each source."""
        code = {p: text.replace(old, new) for p, text in self.sources.items() if ".json" not in p}
        abis = {p: json.loads(text) for p, text in self.sources.items() if ".json" in p}
        return {
            "language": "Vyper",
            "sources": {path: {"content": text} for path, text in code.items()},
            "interfaces": {path: {"abi": abi} for path, abi in abis.items()},
            "settings": dict(self.settings),
        }


def vyper_contracts():
    for kind, entry in tomllib.loads((SOURCES / "contracts.toml").read_text()).items():
        types, values = entry.get("arguments", [])[::2], entry.get("arguments", [])[1::2]
        values = [v.encode() if t == "bytes" else v for t, v in zip(types, values, strict=True)]
        for version in entry["versions"].split():
            paths = [entry["file"], *entry.get("more", [])]
            yield VyperContract(
                kind,
                version,
                entry["file"],
                {path: source_of(path, version) for path in paths},
                encode(types, values).hex(),
                entry.get("settings", {}),
            )


class Vyper:
    """The compilers that tests install once, in `directory`; each that is installed is linked into
    the folder of the service's compilers, too."""

    def __init__(self, directory, served):
        settings = Settings(solc_dir=directory, path=os.environ["PATH"])
        self.store = CompilerStore(settings, VYPER.kind)
        self._served = served

    def install(self, version):
        release = VYPER.kind.parse_version(version)
        self.store.directory.mkdir(parents=True, exist_ok=True)
        with alone(self.store.directory / version):
            if self.store.find(release) is None:
                assert self.store.install(release) == "PyPI"
        installed = self.store.directory / f"vyper-{version}"
        served = self._served / installed.name
        if not served.exists():
            served.mkdir()
            # Not the digests of 2,000 files, which every new application would compare.
            for name in (installed.name, "packages"):
                (served / name).symlink_to(installed / name)

    def creation_of(self, version, source, settings=None):
        """The creation code of a single file."""
        standard = {"language": "Vyper", "sources": {"Box.vy": {"content": source}}}
        return self.creation(version, "Box.vy", {**standard, "settings": settings or {}})

    def verified(self, explorer, version, source, name, arguments=""):
        """The address of a contract of a single file, `path:name`, deployed and verified."""
        address = explorer.deploy(self.creation_of(version, source), arguments)
        answer = explorer.verify(address, source, version, language="vyper", contractName=name)
        assert answer.status_code == 200, answer.json
        return address

    def creation(self, version, path, standard):
        """The creation code of a file, by a run of the compiler itself; where runs differ, by one
        with a seed that verification does not try first."""
        self.install(version)
        release = VYPER.kind.parse_version(version)
        program = self.store.find(release)
        # Releases before 0.4 compile whatever is a source, and interfaces beside.
        sources = dict(standard["sources"])
        others = (
            {} if release >= (0, 4, 0) else {p: sources.pop(p) for p in [*sources] if p != path}
        )
        given = {
            **standard,
            "sources": sources,
            "interfaces": {**standard.get("interfaces", {}), **others},
            "settings": {
                **standard["settings"],
                "outputSelection": {path: ["evm.bytecode.object"]},
            },
        }
        options = [] if VYPER.is_reproducible(release) else ["--hash-seed", "3"]
        output = compile_source(program, given, 40.0, options=options)
        assert "contracts" in output, output
        [contract] = output["contracts"][path].values()
        return contract["evm"]["bytecode"]["object"]
