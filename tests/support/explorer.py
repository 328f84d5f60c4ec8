"""Everything that verification needs, real: anvil, the indexer, the API, compilers from npm."""

import hashlib
import json
import os
import shutil
import threading
import time
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from app import create_app
from scan import registry
from scan.database.connection import Database
from scan.http import hooks, worker_threads
from scan.verification.request import parse
from tests.support.anvil import Anvil
from tests.support.compile_server import compile_json, compile_server
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, wait_until
from tests.support.solidity import BUILT, NODE, alone, soljson

OUTPUTS = ["abi", "metadata", "evm.bytecode", "evm.deployedBytecode", "evm.methodIdentifiers"]


class Compiled(namedtuple("Compiled", "abi metadata creation runtime")):
    """One contract as npm's compiler gives it; hex, with placeholders where it is not linked."""


class Explorer:
    """The service over a chain of its own; `deploy` returns once the contract is indexed."""

    def __init__(self, anvil, indexing):
        self.anvil = anvil
        self.settings = indexing.settings
        self._indexing = indexing
        self.database = Database(self.settings.database_url, statement_timeout_ms=10_000)
        self.app = create_app(self.settings)
        self._placed = 0

    @contextmanager
    def running_jobs(self):
        """Verify what is submitted, and compare creations, as gunicorn does in its worker, until
        the context ends: then no thread of it is left."""
        services = self.app.extensions["scan"]
        threads = [*worker_threads.equal_creations_threads(services)]
        for extension, worker in registry.by_extension(hooks.Worker):
            if extension == "contract_details":
                threads.extend(worker.threads(services))
        others = {*threading.enumerate()}
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            for thread in threads:
                thread.stop()
            for thread in threading.enumerate():
                if thread not in others and thread.name.startswith("verification-"):
                    thread.join()

    @property
    def client(self):
        return self.app.test_client()

    def deploy(self, creation, arguments=""):
        """Creates a contract from hex; its address."""
        code = "0x" + creation.removeprefix("0x") + arguments
        sender = self.anvil.accounts[0]
        receipt = self.anvil.receipt_of(self.anvil.send(sender, None, data=code, gas=15_000_000))
        assert receipt["status"] == "0x1", "the contract was not created"
        address = receipt["contractAddress"]
        self.wait_for(address)
        return address

    def place(self, runtime):
        """Puts code at a fresh address, as no compiler would; its address."""
        self._placed += 1
        address = f"0x{0xC0DE << 64 | self._placed:040x}"
        self.anvil.call("anvil_setCode", address, "0x" + runtime.removeprefix("0x"))
        # The indexer looks for code where a transaction went.
        self.anvil.receipt_of(self.anvil.send(self.anvil.accounts[0], address))
        self.wait_for(address)
        return address

    def send(self, to, data, **fields):
        """The hash of the first account's transaction, once it is indexed."""
        sent = self.anvil.send(self.anvil.accounts[0], to, data=data, **fields)
        self.anvil.receipt_of(sent)
        self._indexing.look()
        path = f"/api/v1/transactions/{sent}"
        wait_until(lambda: self.client.get(path).status_code == 200)
        return sent

    def wait_for_block(self, number):
        self._indexing.look()
        path = f"/api/v1/blocks/{number}?_="  # the cache may have that it is not indexed
        wait_until(lambda: self.client.get(f"{path}{time.monotonic()}").status_code == 200)

    def wait_for(self, address):
        self._indexing.look()
        key = bytes.fromhex(address[2:])
        wait_until(lambda: self.database.row("contracts/contracts_get_code", address=key))

    def verified(self, standard, version, name, arguments="", creation=None):
        """The address of a contract of a standard JSON input, `path:name`, deployed and verified;
        `creation` is its linked code, or what the compiler gives."""
        creation = creation or compiled(version, standard, *name.split(":")).creation
        address = self.deploy(creation, arguments)
        answer = self.verify(address, standard, version, contractName=name)
        assert answer.status_code == 200, answer.json
        return address

    def verify(self, address, source, version, *, client_address="127.0.0.1", **fields):
        """The response; a source that is no text goes as standard JSON."""
        code = source if isinstance(source, str) else json.dumps(source)
        body = {"address": address, "sourceCode": code, "compilerVersion": version, **fields}
        peer = {"REMOTE_ADDR": client_address}
        return self.client.post("/api/v1/verify", json=body, environ_base=peer)

    def submission(self, response):
        """What a response's job asks of the verifier, where no job runs; the job is removed."""
        assert response.status_code == 200, response.text
        sql = "DELETE FROM verification_jobs WHERE request IS NOT NULL RETURNING request"
        [(request,)] = execute(self.settings.database_url, sql)
        return parse(request)

    def contract(self, address):
        return self.client.get(f"/api/v1/contracts/{address}")

    def call(self, address, function, *arguments):
        body = {"functionName": function, "args": list(arguments)}
        return self.client.post(f"/api/v1/contracts/{address}/call", json=body)


@contextmanager
def behind(settings, fault=None):
    """A client of a service over the same index, which remembers nothing, and its node, which fails
    as `fault` says, or as is set later."""
    with FaultyNode(settings.rpc_urls[0], fault) as node:
        yield create_app(replace(settings, rpc_urls=(node.url,))).test_client(), node


@contextmanager
def explorer_over(postgres, template, solc_dir):
    compilers = {"solc_dir": solc_dir, "path": os.environ["PATH"]}
    with (
        Anvil() as node,
        postgres.cloned(template) as url,
        Indexing(url, node.url, rate_limit_anonymous="1000000/minute", **compilers) as indexing,
    ):
        indexing.wait_for_at_least(0)  # until then pages know no chain
        yield Explorer(node, indexing)


def place_compilers(directory, *, unpacked=False):
    """npm's compilers in solc-select's layout, behind the project's own script."""
    for package in sorted((NODE / "node_modules").glob("solc-*")):
        folder = directory / package.name
        folder.mkdir(parents=True)
        shutil.copyfile(ROOT / "scan" / "verification" / "solc.js", folder / package.name)
        (folder / package.name).chmod(0o755)
        source = soljson(package.name) if unpacked else package / "soljson.js"
        (folder / "soljson.js").symlink_to(source)
    return directory


# Its standard input is a file for Scan and a pipe for forge. The model checker may never end, and
# what the server fails at the compiler itself is to fail at. What fails or is killed is not kept.
_ONCE = """#!/bin/sh
[ "$1" = --standard-json ] || exec {compiler} "$@"
own={outputs}/$$
cat > $own.in
output={outputs}/{name}-$(sha256sum < $own.in | cut -c1-64)
if [ ! -f $output ]; then
    done=failed
    case $(cat $own.in) in *SMTChecker*) ;; *)
        mkfifo $own.reply
        exec 3<> $own.reply
        echo {compiler} - $own.in $own.out $own.reply > {requests}
        read done <&3
        rm $own.reply
    esac
    if [ $done = failed ]; then
        {compiler} --standard-json < $own.in > $own.out
        status=$?
        [ $status -eq 0 ] || {{ cat $own.out; exit $status; }}
    fi
    mv $own.out $output
fi
rm $own.in
exec cat $output
"""


def compiling_once(compilers, directory, outputs):
    """The same compilers, kept by a server, each of which compiles the same input only once: tests
    verify the same source again and again, and workers and runs share `outputs`."""
    outputs.mkdir(parents=True, exist_ok=True)
    requests = compile_server().requests
    for compiler in compilers.glob("solc-*/solc-*"):
        script = directory / compiler.name / compiler.name
        script.parent.mkdir()
        names = {"compiler": compiler, "name": compiler.name}
        script.write_text(_ONCE.format(**names, outputs=outputs, requests=requests))
        script.chmod(0o755)
    return directory


def standard_input(sources, **settings):
    return {
        "language": "Solidity",
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": settings,
    }


@cache
def _output(version, text):
    digest = hashlib.sha256(f"{version} {text}".encode()).hexdigest()[:32]
    kept = BUILT / f"standard-{digest}.json"
    with alone(kept):
        if not kept.exists():
            package = f"solc-{version}"
            unfinished = kept.with_suffix(".unfinished")
            unfinished.write_bytes(compile_json(package, soljson(package), text))
            unfinished.rename(kept)
    return json.loads(kept.read_text())


def compilation(version, standard):
    """All that npm's own package gives, not the code under test."""
    settings = {**standard["settings"], "outputSelection": {"*": {"*": OUTPUTS}}}
    output = _output(version, json.dumps({**standard, "settings": settings}))
    faults = [e["formattedMessage"] for e in output.get("errors", []) if e["severity"] == "error"]
    assert not faults, faults
    return output


def compiled(version, standard, path, name):
    contract = compilation(version, standard)["contracts"][path][name]
    evm = contract["evm"]
    return Compiled(
        contract.get("abi", []),  # Yul has neither
        contract.get("metadata", "{}"),
        evm["bytecode"]["object"],
        evm["deployedBytecode"]["object"],
    )


def from_node_modules(*paths):
    """Sources by the names under which they import each other, such as @openzeppelin/…"""
    return {path: (NODE / "node_modules" / path).read_text() for path in paths}
