"""Examples of operations, as /docs shows them: `python -m
tests.extensions.examples_writing URL` asks a service of the demo chain, and for what that
chain lacks one of a chain of its own. The service needs SCAN_WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8."""

import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import requests
from eth_account import Account

from scan.api.openapi.documentation import EXAMPLES
from tests.extensions.chain_of_examples import ask_beside_a_node
from tests.support import WAIT_S
from tests.support.openapi_document import OPERATIONS, check, is_described
from tests.support.serving import wait_until
from tests.support.wallets import key_request

ACCOUNT = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
# Of anvil's first account, which everybody knows.
WALLET = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
INVENTED_URL = "https://hooks.example.com/scan"
INVENTED_KEY = f"scan_{'0123456789abcdef' * 4}"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ASKED_LATER = (
    "openStream getDocument listKeys listWebhooks listContractEvents checkSourcifyAddresses".split()
)
MOST_OF_TEXT = 400
MOST_CHARACTERS = 9000  # of an answer: /docs has them all


def known(url):
    """The values of the parameters of paths, by operation or by name."""

    def first(path):
        [rows] = (
            v
            for v in requests.get(f"{url}/api/v1{path}", timeout=WAIT_S).json().values()
            if isinstance(v, list) and v and isinstance(v[0], dict)
        )
        return rows[0]

    trade = first("/dex-trades?dex=uniswap-v2&limit=1")
    contract = first("/contracts?limit=1")["address"]
    tokens = requests.get(f"{url}/api/v1/tokens?limit=100", timeout=WAIT_S).json()["tokens"]
    items = next(token["address"] for token in tokens if token["type"] == "BEP721")
    item = first(f"/tokens/{items}/items?limit=1")
    operation = first("/user-operations?limit=1")
    return {
        "block": "100", "transaction_hash": trade["transactionHash"], "address": ACCOUNT,
        "token": TOKEN, "contract": contract, "pool": trade["pairAddress"],
        "item": items, "token_id": item["tokenId"],
        "operation_hash": operation["hash"], "chain_id": "31337", "other": TOKEN,
        "operation_transaction": operation["transactionHash"],
    }  # fmt: skip


OF_QUERY = {
    "search": "?q=MUSD",
    "decodeQuery": f"?data=0xa9059cbb{'0' * 24}{ACCOUNT[2:]}{'0' * 62}64",
    "getContractStorage": "",
    "listCandles": "?interval=1d",
    "getEtherscan": f"?module=account&action=balance&address={ACCOUNT}",
    "getEtherscanV2": f"?chainid=31337&module=account&action=balance&address={ACCOUNT}",
    "listAddressBalances": "?points=2",
    "listAddresses": f"?addresses={ACCOUNT},{TOKEN}",
}
BODIES = {
    "callContract": {"functionName": "name", "args": []},
    "encodeCall": {"functionName": "transfer", "args": [ACCOUNT, "1000000"]},
}


def path_of(name, path, values):
    """A path with values for its parameters."""
    kind = next((k for k in ("tokens", "contracts", "pools", "contract") if f"/{k}/" in path), "")
    address = {"tokens": "item" if "/items" in path else "token", "pools": "pool"}.get(
        kind, "contract" if kind else "address"
    )
    address = "token" if name in BODIES else address
    own = {"address": values[address]}
    if name == "listTransactionUserOperations":
        own["transaction_hash"] = values["operation_transaction"]
    return re.sub(r"{(\w+)}", lambda key: {**values, **own}.get(key[1], key[0]), path)


def shortened(value):
    """An answer with one element of each list, and the beginnings of long texts and bytes."""
    if isinstance(value, str) and len(value) > MOST_OF_TEXT:
        return value[:66] if value.startswith("0x") else f"{value[:MOST_OF_TEXT]}…"
    if isinstance(value, list):
        return [shortened(element) for element in value[:1]]
    if isinstance(value, dict):
        return {key: shortened(member) for key, member in value.items()}
    return value


class Examples:
    """What was requested, and what was answered, by operation; `invented` are texts that are shown
    in place of others, such as secrets."""

    def __init__(self):
        self.of_operations, self.without, self.invented = {}, [], {}
        self._operations = {o["operationId"]: (m, p, o) for m, p, o in OPERATIONS}

    def ask(self, url, name, where, body=None, headers=None):
        """Send a request, and keep both if it succeeds; the answer. A text is sent as a form."""
        method, _, operation = self._operations[name]
        headers = headers or {}
        given = {"data": body} if isinstance(body, str) else {"json": body}
        answer = requests.request(method, url + where, headers=headers, timeout=WAIT_S, **given)
        is_json = answer.headers["Content-Type"].startswith("application/json")
        text = json.dumps(shortened(answer.json())) if is_json else ""
        if not answer.ok or not is_json or len(text) > MOST_CHARACTERS:
            self.without.append((name, answer.status_code, len(text), answer.text[:80]))
            return answer
        if is_described(operation):
            described = operation["responses"][str(answer.status_code)]["content"]
            check(described["application/json"]["schema"], json.loads(text), name)
        lines = [f"{method.upper()} {where}", *(f"{key}: {v}" for key, v in headers.items())]
        self.keep(name, "\n".join(lines), body, json.loads(text))
        return answer

    def keep(self, name, request, body, answer):
        example = {"request": request, **({"body": body} if body else {}), "answer": answer}
        self.of_operations[name] = example

    def write(self):
        written = {
            operation["operationId"]: self.of_operations[operation["operationId"]]
            for _, _, operation in OPERATIONS
            if operation["operationId"] in self.of_operations
        }
        text = json.dumps(written, indent=1)
        for real, invented in self.invented.items():
            text = text.replace(real, invented)
        EXAMPLES.write_text(f"{text}\n", encoding="utf-8")


def ask_for_all(examples, url):
    """What needs neither a key nor a node: lists and records, and what is computed."""
    values = known(url)
    for method, path, operation in OPERATIONS:
        name = operation["operationId"]
        where = path_of(name, path, values) + OF_QUERY.get(name, "")
        bodies = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = next((e["value"] for e in bodies.get("examples", {}).values()), None)
        is_read = method == "get" and "{" not in where and name not in ASKED_LATER
        if is_read or name in ("query", "decode", "encode", *BODIES):
            examples.ask(url, name, where, BODIES.get(name, body))
    balance = f"module=account&action=balance&address={ACCOUNT}"
    examples.ask(url, "postEtherscan", "/api", balance, FORM)
    examples.ask(url, "postEtherscanV2", "/v2/api?chainid=31337", balance, FORM)
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []}
    examples.ask(url, "postEthRpc", "/api/eth-rpc", call)
    document = requests.get(f"{url}/api/v1/openapi.json", timeout=WAIT_S).json()
    start = {"openapi": document["openapi"], "info": document["info"], "paths": {}}
    examples.keep("getDocument", "GET /api/v1/openapi.json", None, start)


def ask_for_events(examples, url):
    """A stream's first event, of the next block."""
    where = "/api/v1/stream?types=heads"
    with requests.get(url + where, stream=True, timeout=WAIT_S) as answer:
        lines, ends = [], 0
        for line in answer.iter_lines(decode_unicode=True):
            lines.append(line)
            ends += not line
            if ends == 2:
                break
    examples.keep("openStream", f"GET {where}", None, "\n".join(lines))


class _Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


def ask_as_owner(examples, url):
    """With a key of a wallet: a webhook from its registration to its end, then the key's."""
    receiver = ThreadingHTTPServer(("127.0.0.1", 0), _Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    hook_url = f"http://127.0.0.1:{receiver.server_port}/"
    body = key_request(Account.from_key(WALLET), label="my dashboard")
    key = examples.ask(url, "createKey", "/api/v1/keys", body).json()
    headers = {"X-API-Key": key["key"]}
    webhook = {"ownerAddress": ACCOUNT, "url": hook_url, "watchAddresses": [ACCOUNT, TOKEN],
               "eventTypes": ["tx", "token_transfer"]}  # fmt: skip
    made = examples.ask(url, "createWebhook", "/api/v1/webhooks", webhook, headers).json()
    own = f"/api/v1/webhooks/{made['id']}"
    added = {"add": ["0xde709f2102306220921060314715629080e2fb77"], "remove": [TOKEN]}
    examples.ask(url, "changeWebhookAddresses", f"{own}/addresses", added, headers)
    examples.ask(url, "listWebhookAddresses", f"{own}/addresses", None, headers)
    narrowed = {"direction": "in", "minimumValue": "1000000000000000"}
    examples.ask(url, "changeWebhook", own, narrowed, headers)
    sent = examples.ask(url, "testWebhook", f"{own}/test", None, headers).json()

    def is_delivered():
        tried = requests.get(f"{url}{own}/deliveries", headers=headers, timeout=WAIT_S).json()
        return tried["deliveries"][0]["status"] == "delivered"

    wait_until(is_delivered)
    examples.ask(url, "listDeliveries", f"{own}/deliveries", None, headers)
    again = f"{own}/deliveries/{sent['deliveryId']}/retry"
    examples.ask(url, "retryDelivery", again, None, headers)
    examples.ask(url, "getDelivery", again.removesuffix("/retry"), None, headers)
    span = {"timeFrom": "2026-01-31T00:00:00Z", "timeTo": "2026-01-31T23:59:59Z"}
    examples.ask(url, "replayDeliveries", f"{own}/replay", span, headers)
    examples.ask(url, "getWebhook", own, None, headers)
    rotated = examples.ask(url, "rotateSecret", f"{own}/rotate-secret", None, headers).json()
    examples.ask(url, "getKey", f"/api/v1/keys/{key['id']}", None, headers)
    for name, path in (("listKeys", "keys"), ("listWebhooks", "webhooks")):
        examples.ask(url, name, f"/api/v1/{path}?owner={ACCOUNT}", None, headers)
    examples.ask(url, "deleteWebhook", own, None, headers)
    examples.ask(url, "deleteKey", f"/api/v1/keys/{key['id']}", None, headers)
    receiver.shutdown()
    examples.invented |= {
        key["key"]: INVENTED_KEY, key["keyPrefix"]: INVENTED_KEY[:13], str(key["id"]): "1001",
        made["secret"]: "fedcba9876543210" * 4, rotated["secret"]: "0f1e2d3c4b5a6978" * 4,
        str(made["id"]): "2001", hook_url: INVENTED_URL,
        str(sent["deliveryId"]): "3001", body["signature"]: f"0x{'1b' * 65}",
    }  # fmt: skip


def main(url):
    examples = Examples()
    ask_for_all(examples, url)
    ask_for_events(examples, url)
    ask_as_owner(examples, url)
    ask_beside_a_node(examples)
    examples.write()
    for reasons in examples.without:
        print(*reasons)
    print(len(examples.of_operations), "of", len(OPERATIONS))


if __name__ == "__main__":
    main(sys.argv[1])
