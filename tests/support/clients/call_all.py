"""Calls every function of a published client, whose own environment runs this file.

`call_all.py NAME`: on standard input {"url", "arguments": {parameter: value}, "of": {function:
{parameter: value}}}; on standard output {function: "" or the error}.
"""

import asyncio
import inspect
import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from datetime import date
from importlib.resources import files
from typing import Any

Function = Callable[..., Any]


def of_object(instance, prefix=""):
    for name, function in inspect.getmembers(instance, inspect.ismethod):
        if not name.startswith("_"):
            yield f"{prefix}{name}", function


def aioetherscan(url, _arguments):
    from aioetherscan import Client
    from asyncio_throttle import Throttler

    client = Client("any", loop=asyncio.get_event_loop(), throttler=Throttler(1000))
    client._url_builder.API_URL = f"{url}/api"
    for name in ("account", "block", "contract", "transaction", "stats", "logs", "proxy", "token"):
        yield from of_object(getattr(client, name), f"{name}.")
    yield from of_object(client.gas_tracker, "gas_tracker.")


def py_etherscan_api(url, arguments):
    from etherscan import accounts, client, contracts, proxies, stats, tokens

    client.Client.PREFIX = f"{url}/api?"
    own = {"build_url", "connect", "check_and_get_api", "check_keys_api", "update_transactions"}
    account = accounts.Account(arguments["address"], "any")
    many = accounts.Account(arguments["addresses"], "any")
    of_classes = (
        account,
        contracts.Contract(arguments["contract_address"], "any"),
        proxies.Proxies("any"),
        stats.Stats("any"),
        tokens.Tokens(arguments["contract_address"], "any"),
    )
    for made in of_classes:
        for name, function in of_object(made, f"{type(made).__name__}."):
            if name.partition(".")[2] not in own:
                multiple = name == "Account.get_balance_multiple"
                yield name, many.get_balance_multiple if multiple else function


def blockscout_python(url, _arguments):
    import blockscout
    from blockscout.explorer.blockscout import Blockscout, Explorers, Fields

    Fields.HTTPS = ""
    Explorers.get_explorer = lambda *_: f"{url}/"
    for kind, api in (("RPC", "api?"), ("REST", "api/v2/")):
        table = json.loads((files(blockscout.configs) / f"ETHEREUM-{kind}-stable.json").read_text())
        made = Blockscout(net="ethereum", api=api)
        for name, of_function in table.items():
            wrapped = getattr(getattr(blockscout, of_function["module"]), name)
            yield f"{kind} {name}", raising(getattr(made, name), inspect.signature(wrapped))


def raising(function, signature):
    """The function with this signature, raising where it returns a response that is an error."""

    def call(**given):
        response = function(**given)
        if isinstance(response, dict) and response.keys() <= {"message", "errors", "error"}:
            raise ValueError(response)

    call.__signature__ = signature
    return call


def ape_etherscan(_url, arguments):
    """The plugin of ape, whose ape-config.yaml in the working directory has the URL."""
    from ape import networks
    from ape_etherscan.explorer import Etherscan

    with networks.parse_network_choice("ethereum:local:test"):
        explorer = Etherscan(network=networks.ethereum.local, name="etherscan")
        factory = explorer._client_factory
        contract = factory.get_contract_client(arguments["contract_address"])
        yield (
            "get_contract_type",
            lambda contract_address: explorer.get_contract_type(contract_address).abi[0],
        )
        yield (
            "get_manifest",
            lambda contract_address: explorer.get_manifest(contract_address).compilers[0],
        )
        yield "get_creation_data", lambda: contract.get_creation_data()[0]
        yield "check_verify_status", lambda guid: contract.check_verify_status(guid)
        yield (
            "get_all_normal_transactions",
            lambda address: next(factory.get_account_client(address).get_all_normal_transactions()),
        )


CLIENTS = {
    function.__name__: function
    for function in (aioetherscan, py_etherscan_api, blockscout_python, ape_etherscan)
}


async def call(function, arguments):
    response = function(**arguments)
    if inspect.isawaitable(response):
        await response


async def main(name):
    given = json.load(sys.stdin)
    results = {}
    for function_name, function in CLIENTS[name](given["url"], given["arguments"]):
        parameters = inspect.signature(function).parameters.values()
        named = (p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY))
        required = [p.name for p in named if p.default is p.empty]
        try:
            arguments = {name: given["arguments"][name] for name in required}
            arguments |= given["of"].get(function_name, {})
            for name in {"start_date", "end_date"} & arguments.keys():
                arguments[name] = date.fromisoformat(arguments[name])
            await call(function, arguments)
            results[function_name] = ""
        except Exception as error:
            results[function_name] = f"{type(error).__name__}: {error}"[:200]
    return results


if __name__ == "__main__":
    with redirect_stdout(sys.stderr):
        called = asyncio.run(main(sys.argv[1]))
    print(json.dumps(called))
