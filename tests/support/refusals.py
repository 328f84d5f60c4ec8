"""Refusals of the API, as each error is shaped, and what no address is."""

ADDRESS = "0x" + 40 * "1"
HASH = "0x" + 64 * "1"
HUGE = "1" + 400 * "0"


NOT_ADDRESSES = [
    *("", "0x", " ", ADDRESS[:-1], ADDRESS + "1", ADDRESS[2:], "0x" + 40 * "g", HASH, "1"),
    *(ADDRESS + " ", " " + ADDRESS, ADDRESS + "\n", ADDRESS[:-1] + "\0", "1" + ADDRESS[1:]),
    *("0x" + 40 * "\u0661", "0x" + 40 * "\uff11", "vitalik.eth", "null", "\x00"),
    "0x" + 10**5 * "1",
]


# Of tracebacks, statements, drivers, and Python's own messages.
INTERNALS = (
    *("traceback", '.py"', "psycopg", "select ", "syntax error", "object at 0x", "nonetype"),
    *("error(", "invalid literal", "codec can't", "out of range for type"),
)


def require_refusal(answer, status, code, field=None):
    assert answer.status_code == status, answer.text[:300]
    assert answer.mimetype == "application/json"
    body = answer.json
    assert body["code"] == code and len(body["error"]) > 10, body
    assert body.get("field") == field, body
    shown = body["error"].lower()
    assert not [word for word in INTERNALS if word in shown], body
    return body


def require_parameter(answer, field):
    require_refusal(answer, 400, "invalid_parameter", field)
