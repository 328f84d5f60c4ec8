"""Examples of operations, as /docs shows them: `python -m
scan.extensions.demo.tests.examples_writing URL` asks a service of the demo chain."""

import json
import re
import sys

import requests

from scan.api.openapi.documentation import EXAMPLES
from tests.support import WAIT_S
from tests.support.openapi_document import OPERATIONS, SUCCESS, check, is_described

ACCOUNT = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
TOKEN = "0x5fbdb2315678afecb367f032d93f642f64180aa3"
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
    "listKeys": f"?owner={ACCOUNT}",
    "listWebhooks": f"?owner={ACCOUNT}",
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


def main(url):
    values, examples, without = known(url), {}, []
    for method, path, operation in OPERATIONS:
        name = operation["operationId"]
        where = path_of(name, path, values) + OF_QUERY.get(name, "")
        bodies = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = next((e["value"] for e in bodies.get("examples", {}).values()), None)
        body = BODIES.get(name, body)
        if method == "get" and "{" not in where and name not in ("openStream", "getDocument"):
            answer = requests.get(url + where, timeout=WAIT_S)
        elif name in ("query", "decode", "encode", "callContract", "encodeCall"):
            answer = requests.post(url + where, json=body, timeout=WAIT_S)
        else:
            without.append((name, "not requested"))
            continue
        is_json = answer.headers["Content-Type"].startswith("application/json")
        text = json.dumps(shortened(answer.json())) if is_json else ""
        if answer.status_code != SUCCESS or not is_json or len(text) > MOST_CHARACTERS:
            without.append((name, answer.status_code, len(text), answer.text[:80]))
            continue
        if is_described(operation):
            check(operation["responses"]["200"]["content"]["application/json"]["schema"],
                  json.loads(text), name)  # fmt: skip
        request = {"request": f"{method.upper()} {where}", **({"body": body} if body else {})}
        examples[name] = {**request, "answer": json.loads(text)}
    EXAMPLES.write_text(json.dumps(examples, indent=1) + "\n", encoding="utf-8")
    for reasons in without:
        print(*reasons)
    print(len(examples), "of", len(OPERATIONS))


if __name__ == "__main__":
    main(sys.argv[1])
