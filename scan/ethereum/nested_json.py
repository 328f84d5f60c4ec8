"""JSON that nests more deeply than parsers take, which recurse on the stack of C: in a trace each
of 1,024 calls within another (callTracer) nests by two levels, and orjson ends at 1,024 levels.

The text is cut into parts of PART_LEVELS levels, which are parsed from the innermost outwards. It
takes three times as long as orjson, and lets other threads run.
"""

import json
import re
from secrets import token_hex
from typing import Any

# The outermost call, 1,024 within it, and one more that fails at the limit; around them the answers
# of a batch and a block's transactions, and in the last one the topics of logs.
MOST_LEVELS = 2 * 1026 + 8
PART_LEVELS = 200  # far from Python's limit of recursion, which the threads of requests are near to

_to_bracket = re.compile(rb'(?:[^][{}"]++|"[^"]*+")*+[][{}]').match


class TooDeep(ValueError):
    """The JSON has more than MOST_LEVELS levels."""


def parse(text: bytes | bytearray, part_levels: int = PART_LEVELS) -> Any:
    """Return the value of a JSON text. Raises TooDeep, and ValueError where it is malformed."""
    unescaped = text.replace(rb"\\", b"..").replace(rb"\"", b"..")  # of the same length
    mark = token_hex()  # in place of a part; texts of contracts and nodes cannot know it
    parts: dict[object, Any] = {}
    decoder = json.JSONDecoder(object_hook=lambda value: parts.pop(value.get(mark), value))
    begun = [bytearray()]  # the parts that are not closed yet, outermost first
    level = copied = end = 0
    while bracket := _to_bracket(unescaped, end):
        end = bracket.end()
        if unescaped[end - 1] in b"[{":
            if level and level % part_levels == 0:
                begun[-1] += text[copied : end - 1]
                copied = end - 1
                begun.append(bytearray())
            level += 1
            if level > MOST_LEVELS:
                raise TooDeep
        else:
            level -= 1
            if level <= 0:
                break
            if level % part_levels == 0:
                part = begun.pop() + text[copied:end]
                copied = end
                parts[end] = decoder.decode(part.decode())
                begun[-1] += b'{"%s":%d}' % (mark.encode(), end)
    return decoder.decode((begun[0] + text[copied:]).decode())
