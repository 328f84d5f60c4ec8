"""A contract on a chain, descriptors of it, and what the service says of its calls."""

from collections import namedtuple
from pathlib import Path

from tests.support.anvil import calldata
from tests.support.lists import get

SOURCE = Path(__file__).with_name("Exchange.sol").read_text()
VERSION, PATH = "0.8.28", "contracts/Exchange.sol"
LEGS = "(address token,uint256 amount,uint8 mode)[] legs"
REST = "address to,uint64 deadline,uint32 wait,bytes route,int16 fee,string note"
TRADE = f"trade({LEGS},{REST})"
TYPES = ["(address,uint256,uint8)[]", "address", "uint64", "uint32", "bytes", "int16", "string"]
TRANSFER = "transfer(address to,uint256 value)"
NATIVE = "0x" + "ee" * 20
ANN = "0x00000000000000000000000000000000000a11ce"
SENT_WEI = 5 * 10**17


class Chain(namedtuple("Chain", "explorer exchange")):
    def descriptor(self, formats, **more):
        deployment = {"chainId": 31337, "address": self.exchange}
        return {
            "context": {"contract": {"deployments": [deployment]}},
            "metadata": {"owner": "Example", "contractName": "Exchange"},
            "display": {"formats": formats},
            **more,
        }

    def transfer(self, value=1_500_000):
        return self.call("transfer(address,uint256)", ANN, value)

    def trade(self, *values):
        return self.call(f"trade({','.join(TYPES)})", *values, value=hex(SENT_WEI))

    def call(self, signature, *values, **fields):
        return self.explorer.send(self.exchange, calldata(signature, *values), **fields)

    def trade_of(self, legs=2, deadline=1_800_000_000, note="hi"):
        of_leg = [(self.exchange, 10**6 * (n + 1), n % 3) for n in range(legs)]
        route = bytes.fromhex(self.exchange[2:]) + b"\1\2"
        return self.trade(of_leg, ANN, deadline, 8250, route, -25, note)


def signing(client, transaction):
    return get(client, f"/transactions/{transaction}")["clearSigning"]


def shown(client, transaction):
    described = signing(client, transaction)
    return [(f["label"], f["value"], f["format"]) for f in described["fields"]]


def field(path, format_="raw", **params):
    return {"path": path, "label": path[:30], "format": format_, "params": params}
