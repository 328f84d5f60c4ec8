"""Everything that verification needs, real: anvil, the indexer, the API, compilers from npm."""

import json
import os
import re
import shutil
import threading
import time
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app import create_app
from scan import registry
from scan.database.connection import Database
from scan.http import background_threads, hooks
from scan.verification import sandbox
from scan.verification.request import parse
from tests.support.anvil import Anvil
from tests.support.compile_server import compile_json, compile_requests, compile_vyper
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode, routed
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, wait_until
from tests.support.solidity import NODE, npm_output, soljson

OUTPUTS = """
    abi metadata evm.bytecode.object evm.bytecode.linkReferences evm.bytecode.sourceMap
    evm.deployedBytecode.object evm.deployedBytecode.linkReferences
    evm.deployedBytecode.immutableReferences evm.deployedBytecode.sourceMap
    evm.methodIdentifiers storageLayout
""".split()

STATE = {"eth_call", "eth_getBalance", "eth_getCode", "eth_getStorageAt", "eth_getTransactionCount"}


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
        self._placed = 1

    @contextmanager
    def running_jobs(self):
        """Verify what is submitted, and compare creations, as gunicorn does in its worker, until
        the context ends: then no thread of it is left."""
        services = self.app.extensions["scan"]
        threads = [*background_threads.equal_creations_threads(services)]
        for extension, worker in registry.by_extension(hooks.Worker):
            if extension in ("contract_details", "verification_jobs"):
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

    @property
    def next_place(self):
        """The address at which code is placed next."""
        return f"0x{0xC0DE << 64 | self._placed:040x}"

    def place(self, runtime):
        """Puts code at a fresh address, as no compiler would; its address."""
        address = self.next_place
        self._placed += 1
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
        # Before its block is indexed it has no status.
        path = f"/api/v1/transactions/{sent}"
        wait_until(lambda: self.client.get(path).json.get("status") is not None)
        return sent

    def transact(self, to, data, **fields):
        """The record of the first account's transaction."""
        return self.transaction(self.send(to, data, **fields))

    def transaction(self, transaction_hash):
        return self.client.get(f"/api/v1/transactions/{transaction_hash}").json

    def frames(self, transaction_hash):
        """The calls of a transaction's trace."""
        return self.client.get(f"/api/v1/transactions/{transaction_hash}/trace").json["frames"]

    def errors(self, sent):
        """Of transactions that wait, by the keys of their hashes; a block for all is mined."""
        *_, last = map(self.anvil.receipt_of, sent.values())
        self.wait_for_block(int(last["blockNumber"], 16))
        return {key: self.transaction(hash_)["error"] for key, hash_ in sent.items()}

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
        [(request,)] = self.execute(sql)
        return parse(request)

    def execute(self, sql, *parameters):
        return execute(self.settings.database_url, sql, *parameters)

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
def with_state_of_a_fork(postgres, template, act):
    """A client of an index, the anvil that it has indexed, and the node, a balancer's, of which
    another anvil has the state: `act` makes them differ by the number that it is given, and what it
    returns is yielded, too."""
    with Anvil() as indexed, Anvil() as fork, postgres.cloned(template) as url:
        acted = act(indexed, 1)
        act(fork, 2)
        indexing = Indexing(url, indexed.url).run_until(indexed.head())
        with FaultyNode(fork.url) as elsewhere, behind(indexing.settings) as (client, node):
            node.fault = routed(lambda call: call["method"] in STATE, elsewhere.forward)
            yield client, indexed, node, acted


@contextmanager
def explorer_over(postgres, template, solc_dir, **of_node):
    compilers = {"solc_dir": solc_dir, "path": os.environ["PATH"]}
    with (
        Anvil(**of_node) as node,
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


# Its standard input is a file for Scan and a pipe for forge. What the server does not compile, the
# compiler does, or fails at.
_SERVED = """#!/bin/sh
[ "$1" = --standard-json ] || exec {compiler} "$@"
own={folder}/$$
cat > $own.in
mkfifo $own.reply
exec 3<> $own.reply
echo {compiler} - $own.in $own.reply > {requests}
read done output <&3
rm $own.reply
[ $done = failed ] || exec cat $output
exec {compiler} --standard-json < $own.in
"""


def served_compilers(compilers, directory):
    """The same compilers, kept by a server, each of which compiles the same input only once: tests
    verify the same source again and again, and workers and runs share what it keeps."""
    for compiler in compilers.glob("solc-*/solc-*"):
        script = directory / compiler.name / compiler.name
        script.parent.mkdir()
        paths = {"compiler": compiler, "folder": directory, "requests": compile_requests()}
        script.write_text(_SERVED.format(**paths))
        script.chmod(0o755)
    return directory


@contextmanager
def compiling_in_server(compilers, served, vypers):
    """Programs in these folders answer without a process of their own, which takes 30 ms of
    processor. Of that, and of its limits, are tests of compilers in other folders."""
    plainly = sandbox.Program.run

    def run(program, arguments, folder, timeout_s, stdin=b"", check=lambda: None):
        executable, output = program.executable, None
        if [*arguments] == ["--standard-json"] and {served, vypers} & {*executable.parents}:
            check()
            if (packages := executable.with_name("packages")).is_dir():
                output = compile_vyper(packages.resolve(), folder, stdin)
            else:
                output = compile_json(compilers / executable.name / executable.name, "-", stdin)
        if output is None:
            return plainly(program, arguments, folder, timeout_s, stdin, check)
        return sandbox.Finished(0, output)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox.Program, "run", run)
        yield


def standard_input(sources, **settings):
    return {
        "language": "Solidity",
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": settings,
    }


def compilation(version, standard, selection=None):
    """All that npm's own package gives, not the code under test."""
    settings = {**standard["settings"], "outputSelection": selection or {"*": {"*": OUTPUTS}}}
    output = npm_output(f"solc-{version}", json.dumps({**standard, "settings": settings}))
    faults = [e["formattedMessage"] for e in output.get("errors", []) if e["severity"] == "error"]
    assert not faults, faults
    return output


def compiled(version, standard, path, name):
    """One contract, selected as a verification selects it, which then has not to be compiled."""
    contract = compilation(version, standard, {path: {name: OUTPUTS}})["contracts"][path][name]
    evm = contract["evm"]
    return Compiled(
        contract.get("abi", []),  # Yul has neither
        contract.get("metadata", "{}"),
        evm["bytecode"]["object"],
        evm["deployedBytecode"]["object"],
    )


def linked(creation, library):
    """Creation code with a library's address in all places of libraries."""
    return re.sub("__.{38}", library[2:].lower(), creation)


def from_node_modules(*paths):
    """Sources by the names under which they import each other, such as @openzeppelin/…"""
    return {path: (NODE / "node_modules" / path).read_text() for path in paths}
