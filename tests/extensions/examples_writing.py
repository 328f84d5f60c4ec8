"""Examples of operations, as /docs shows them: `python -m tests.extensions.examples_writing URL`
repeats their requests at a service of the demo chain, and writes what is answered.

What that chain does not answer stays as it is, and is named: secrets are invented, and some need
a contract, a name or a job of their own. Of a new operation the request is written by hand."""

import json
import sys

import requests

from scan.api.openapi.documentation import EXAMPLES
from tests.support import WAIT_S
from tests.support.openapi_document import OPERATIONS, check, is_described

MOST_OF_TEXT = 400
MOST_CHARACTERS = 9000  # of an answer: /docs has them all
INVENTED_KEY = f"scan_{'0123456789abcdef' * 4}"


def shortened(value):
    """An answer with one element of each list, and the beginnings of long texts and bytes."""
    if isinstance(value, str) and len(value) > MOST_OF_TEXT:
        return value[:66] if value.startswith("0x") else f"{value[:MOST_OF_TEXT]}…"
    if isinstance(value, list):
        return [shortened(element) for element in value[:1]]
    if isinstance(value, dict):
        return {key: shortened(member) for key, member in value.items()}
    return value


def renewed(url, operation, example):
    """An example with the present answer; None where there is none to be shown."""
    line, *headers = example["request"].split("\n")
    method, where = line.split(" ", 1)
    body, answer = example.get("body"), example["answer"]
    if INVENTED_KEY in "".join(headers) or not isinstance(answer, dict | list):
        return None
    given = {"data": body} if isinstance(body, str) else {"json": body}
    headers = dict(header.split(": ", 1) for header in headers)
    answer = requests.request(method, url + where, headers=headers, timeout=WAIT_S, **given)
    if not answer.ok or "json" not in answer.headers["Content-Type"]:
        return None
    value = shortened(answer.json())
    if len(json.dumps(value)) > MOST_CHARACTERS:
        return None
    if is_described(operation):
        described = operation["responses"][str(answer.status_code)]["content"]
        check(described["application/json"]["schema"], value, operation["operationId"])
    return {**example, "answer": value}


def main(url):
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    for _, _, operation in OPERATIONS:
        name = operation["operationId"]
        if name in examples and (example := renewed(url, operation, examples[name])):
            examples[name] = example
        else:
            print(name, "stays as it is")
    EXAMPLES.write_text(f"{json.dumps(examples, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
