"""Other nodes than anvil, by npm: Hardhat's (EDR) and Ganache; installed at first use.

They take hundreds of megabytes, so they have a folder of their own, tests/support/nodes.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import urllib3

from tests.support import anvil, serving, solidity

FOLDER = solidity.SUPPORT / "nodes"
INSTALL_TIMEOUT_S = 600


def install():
    """With npm, where it was not done yet."""
    done = FOLDER / "node_modules" / ".done"
    if not done.exists():
        command = ["npm", "install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=FOLDER, check=True, timeout=INSTALL_TIMEOUT_S)
        done.touch()


class OtherNode(anvil.Node):
    """A running node that mines a block for each transaction; it ends with the test."""

    evm_version = "shanghai"

    def __init__(self):
        install()
        self.folder = Path(tempfile.mkdtemp(prefix="scan-node-"))
        port = serving.free_port()
        output = self.folder / "output"
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        options = {"cwd": FOLDER, "env": env, "start_new_session": True}
        self._process = anvil.started(self.command(port), output, **options)
        super().__init__(f"http://127.0.0.1:{port}")
        serving.wait_until(self._answers, self._process, told=output.read_text)
        self.output = output.read_text()
        self.accounts = [address.lower() for address in self.call("eth_accounts")]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, port):
        raise NotImplementedError

    def head(self):
        return int(self.call("eth_blockNumber"), 16)

    def send(self, sender, to, **fields):
        """The receipt, once it is mined."""
        transaction = {"from": sender, "gas": anvil.GAS, **fields} | (
            {} if to is None else {"to": to}
        )
        hash_ = self._send(anvil._hexed(transaction))
        serving.wait_until(lambda: self.call("eth_getTransactionReceipt", hash_))
        return dict(self.call("eth_getTransactionReceipt", hash_))

    def deploy(self, name, *args):
        artifact = solidity.artifact(name, self.evm_version)
        receipt = self.send(
            self.accounts[0], None, data=anvil.creation_code(artifact, *args), gas=1_500_000
        )
        assert receipt["status"] == "0x1", f"{name} was not created"
        return anvil.Contract(receipt["contractAddress"], artifact)

    def transact(self, who, contract, function, *args, **fields):
        data = contract.data(function, *args)
        return self.send(self.accounts[who], contract.address, data=data, **fields)

    def _send(self, transaction):
        try:
            return str(self.call("eth_sendTransaction", transaction))
        except anvil.RpcError as error:  # Hardhat's mines what fails, and says so as an error
            hashes = re.findall(r"0x[0-9a-f]{64}\b", str(error.data))
            if not hashes:
                raise
            return str(hashes[0])

    def _answers(self):
        with suppress(urllib3.exceptions.HTTPError):
            return bool(self.call("eth_blockNumber"))
        return False


class Hardhat(OtherNode):
    """With `forking`, as its configuration has it, the fork of another node's chain."""

    evm_version = "cancun"

    def __init__(self, forking=None):
        own = {"initialDate": "2023-11-14T22:13:20Z"} if forking is None else {"forking": forking}
        self._network = {"hardfork": "prague", **own}
        super().__init__()

    def command(self, port):
        config = self.folder / "hardhat.config.js"
        configuration = {"solidity": "0.8.28", "networks": {"hardhat": self._network}}
        config.write_text(f"module.exports = {json.dumps(configuration)};")
        program = "node_modules/.bin/hardhat"
        serve = ("node", "--hostname", "127.0.0.1", "--port", str(port))
        return ["node", program, "--config", str(config), *serve]


class Ganache(OtherNode):
    def command(self, port):
        program = "node_modules/ganache/dist/node/cli.js"
        options = ("--wallet.deterministic", "--logging.quiet", "--chain.hardfork", "shanghai")
        return ["node", program, "--host", "127.0.0.1", "--port", str(port), *options]
