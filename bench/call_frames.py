"""Calls of a synthetic transaction, as callTracer has them. Pure."""

from bench.marks import Json


def call_frame(
    kind: str, from_: str, to: str, value: int | None, input_: str = "0x", output: str = "0x"
) -> Json:
    frame: Json = {"from": from_, "gas": "0x0", "gasUsed": "0x0", "to": to, "input": input_}
    if output != "0x":
        frame["output"] = output
    if value is not None:
        frame["value"] = hex(value)
    return frame | {"type": kind}
