"""The tools for language models (scan.extensions.mcp), used by the protocol's own client over HTTP
and over stdin.

The client is imported where it is used: every worker collects this file, and it takes 0.6 s.
"""

import asyncio
import json
import subprocess
import sys
from urllib.parse import quote

import pytest
import requests

from scan.extensions.demo.tests.conftest import demo_node, demo_template
from tests.support import WAIT_S, forked_python, indexing, openapi_document, serving
from tests.support.database import made_key
from tests.support.wallets import new_wallet, obtain_key

__all__ = ["demo_node", "demo_template"]


@pytest.fixture(scope="module")
def demo_url(postgres, demo_template, demo_node):
    names = ("SCAN_RATE_LIMIT_ANONYMOUS", "SCAN_RATE_LIMIT_PAGES")
    limits = dict.fromkeys(names, "100000/minute")
    node, head = demo_node.url, demo_node.recording.head
    with (
        postgres.cloned(demo_template) as url,
        indexing.Indexing(url, node, until=head),
        serving.gunicorn(url, RPC_URL=node, **limits) as address,
    ):
        yield address


def with_client(url, use):
    from mcp.client import Client

    async def run():
        async with Client(url) as client:
            return await use(client)

    return asyncio.run(run())


def call(url, tool, **arguments):
    """The tool's result; an error's body where it failed."""
    result = with_client(url, lambda client: client.call_tool(tool, arguments))
    return json.loads(result.content[0].text) | ({"failed": True} if result.is_error else {})


def sent(address, tool, key, **arguments):
    """The response to a message that calls a tool with an API key, or without one."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    message["params"] = {"name": tool, "arguments": arguments}
    headers = {"Accept": "application/json, text/event-stream", "X-API-Key": key}
    return requests.post(f"{address}/mcp", json=message, headers=headers, timeout=WAIT_S)


@pytest.mark.thorough
def test_where_access_needs_a_key_tools_have_the_callers(own_index):
    url, key = own_index.url, made_key(own_index.url, 1000)
    rpc_url = own_index.settings.rpc_urls[0]
    with serving.gunicorn(url, RPC_URL=rpc_url, SCAN_ACCESS="keys") as address:
        assert sent(address, "get_block", None, block="1").status_code == 401
        result = sent(address, "get_block", key.text, block="1").json()["result"]
        assert result["isError"] is False and "parentHash" in result["content"][0]["text"]


TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"  # of the demo
OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
TRANSFER = {"signature": "Transfer(address indexed from, address indexed to, uint256 value)"}
EVENTS = f"/events?signature={quote(TRANSFER['signature'])}"
SENDER = json.dumps({"from": OWNER})


@pytest.mark.parametrize(
    ("tool", "arguments", "path"),
    [
        ("get_block", {"block": "5"}, "/blocks/5"),
        ("search", {"q": "Meridian Dollar"}, "/search?q=Meridian%20Dollar"),
        ("get_token", {"address": TOKEN}, f"/tokens/{TOKEN}"),
        ("get_token_holders", {"address": TOKEN, "limit": 1}, f"/tokens/{TOKEN}/holders?limit=1"),
        ("get_address_tokens", {"address": OWNER}, f"/addresses/{OWNER}/tokens"),
        ("list_events", {**TRANSFER, "args": None, "address": None}, EVENTS),
        ("list_events", {**TRANSFER, "args": SENDER}, f"{EVENTS}&args={SENDER}"),
        ("list_events", {**TRANSFER, "args": json.loads(SENDER)}, f"{EVENTS}&args={SENDER}"),
    ],
)
def test_tools_answer_as_the_operations_of_which_they_are_made(demo_url, tool, arguments, path):
    expected = requests.get(f"{demo_url}/api/v1{path}", timeout=WAIT_S).json()
    assert call(f"{demo_url}/mcp", tool, **arguments) == expected


def test_tools_are_at_most_fifteen_read_only_and_made_from_the_document(demo_url):
    tools = with_client(f"{demo_url}/mcp", lambda client: client.list_tools()).tools
    assert 0 < len(tools) <= 15
    text = json.dumps([tool.model_dump(mode="json", by_alias=True) for tool in tools])
    assert "$ref" not in text and len(text) < 20_000  # a model reads all of it
    summaries = {
        operation["summary"]
        for methods in openapi_document.DOCUMENT["paths"].values()
        for operation in methods.values()
        if "summary" in operation
    }
    for tool in tools:
        assert tool.annotations is not None and tool.annotations.read_only_hint
        assert tool.input_schema["type"] == "object"
        assert any((tool.description or "").startswith(summary) for summary in summaries)
    [query] = [tool.input_schema for tool in tools if tool.name == "query"]
    entities = openapi_document.DOCUMENT["components"]["schemas"]["Query"]["oneOf"]
    assert len(query["properties"]["entity"]["enum"]) == len(entities)
    assert query["required"] == ["entity"]
    filters = query["properties"]["filter"]["properties"]
    assert {"address", "tokenAddress", "topic0"} <= set(filters)
    assert filters["blockFrom"]["description"] == "The first block."  # not that of all numbers


@pytest.mark.thorough
def test_the_command_has_the_same_tools_over_stdin(demo_url):
    from mcp.client.stdio import StdioServerParameters, stdio_client

    arguments = ["-m", "scan", "mcp", "--url", demo_url]
    command = stdio_client(StdioServerParameters(command=sys.executable, args=arguments))
    malformed = call(command, "get_token", address="0x12")
    expected = (True, "invalid_parameter", "address")
    assert (malformed["failed"], malformed["code"], malformed["field"]) == expected


def test_integers_beyond_64_bits_and_optional_nulls_are_passed_on(demo_url):
    arguments = {"functionName": "f(uint256)", "args": [2 * 10**19], "block": None}
    answer = call(f"{demo_url}/mcp", "call_contract", address="0x" + 40 * "9", **arguments)
    assert answer["code"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "address is required"),
        ({"address": "0x" + 40 * "9", "nonsense": 1}, "Unknown argument nonsense"),
        ({"address": ["0x"]}, "must be a string"),
        ({"address": ""}, "address is empty"),
        ({"address": "../../readyz?x=/"}, "must not have a slash"),
        ({"address": "..?x=1#%2e"}, "40 hex digits"),
    ],
)
def test_malformed_arguments_never_leave_their_tool(demo_url, arguments, words):
    answer = call(f"{demo_url}/mcp", "get_token", **arguments)
    assert answer["failed"] and words in answer["error"]


def test_an_unknown_tool_is_an_error_of_the_protocol_which_has_no_sessions(demo_url):
    from mcp.shared.exceptions import MCPError

    async def use(client):
        with pytest.raises(MCPError, match="There is no tool delete_everything"):
            await client.call_tool("delete_everything", {})

    with_client(f"{demo_url}/mcp", use)
    for method in ("GET", "DELETE"):
        assert requests.request(method, f"{demo_url}/mcp", timeout=WAIT_S).status_code == 405


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{", {"Content-Type": "application/json"}, 400),
        (b"[" * 100_000, {"Content-Type": "application/json"}, 413),
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b" " * 1_100_000, {"Content-Type": "application/json"}, 413),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {}, 415),
    ],
)
def test_malformed_messages_are_refused(demo_url, body, headers, status):
    accepted = {"Accept": "application/json, text/event-stream", **headers}
    response = requests.post(f"{demo_url}/mcp", body, headers=accepted, timeout=WAIT_S)
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json" and response.json()["error"]
    assert requests.get(f"{demo_url}/api/v1/stats", timeout=WAIT_S).json()["latestBlock"]


@pytest.mark.thorough
def test_calls_are_charged_to_the_callers_address_or_key(postgres, shared_database_url):
    with serving.gunicorn(shared_database_url, SCAN_RATE_LIMIT_ANONYMOUS="4/minute") as address:
        key = obtain_key(address, new_wallet())["key"]  # one request

        async def four_times(client):
            return [await client.call_tool("get_network", {}) for _ in range(4)]

        results = with_client(f"{address}/mcp", four_times)
        assert [result.is_error for result in results] == [False, False, False, True]
        assert json.loads(results[3].content[0].text)["code"] == "rate_limited"
        # What tools are charged is what the API has charged.
        assert requests.get(f"{address}/api/v1/stats", timeout=WAIT_S).status_code == 429
        assert sent(address, "get_network", key).json()["result"]["isError"] is False


@pytest.mark.check
def test_the_command_says_what_it_cannot_reach():
    done = forked_python.run(
        [sys.executable, "-m", "scan", "mcp", "--url", "http://127.0.0.1:1"],
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1 and "127.0.0.1:1" in done.stderr and done.stdout == ""
