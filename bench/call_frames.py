"""Calls of a synthetic transaction, as callTracer has them, and as trace_block has them. Pure."""

from collections.abc import Iterator, Sequence

from bench.marks import BLOCK_HASH, FIRST_TRANSACTION, Json, hash_mark


def call_frame(
    kind: str, from_: str, to: str, value: int | None, input_: str = "0x", output: str = "0x"
) -> Json:
    frame: Json = {"from": from_, "gas": "0x0", "gasUsed": "0x0", "to": to, "input": input_}
    if output != "0x":
        frame["output"] = output
    if value is not None:
        frame["value"] = hex(value)
    return frame | {"type": kind}


def flat_traces(frame: Json, position: int) -> Iterator[Json]:
    """A transaction's calls as trace_block has them."""
    ahead: list[tuple[Json, list[int]]] = [(frame, [])]
    while ahead:
        call, path = ahead.pop()
        calls: Sequence[Json] = call.get("calls", ())
        ahead += [(inner, [*path, n]) for n, inner in reversed([*enumerate(calls)])]
        action = {"from": call["from"], "gas": call["gas"], "value": call.get("value", "0x0")}
        if call["type"].startswith("CREATE"):
            kind = "create"
            action |= {"init": call["input"], "creationMethod": call["type"].lower()}
            result = {"address": call["to"], "code": call["output"]}
        else:
            kind = "call"
            action |= {"callType": call["type"].lower(), "input": call["input"], "to": call["to"]}
            result = {"output": call.get("output", "0x")}
        outcome: Json = {"result": {"gasUsed": call["gasUsed"], **result}}
        if "error" in call:
            outcome = {"error": "Reverted", "result": None}
        yield {
            "action": action,
            "blockHash": hash_mark(BLOCK_HASH),
            "blockNumber": "%(decimal)s",
            **outcome,
            "subtraces": len(calls),
            "traceAddress": path,
            "transactionHash": hash_mark(FIRST_TRANSACTION + position),
            "transactionPosition": position,
            "type": kind,
        }
