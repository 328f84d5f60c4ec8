"""Results of tools: the text of the API's response or error, of bounded size."""

import mcp_types as types
import orjson

from scan.errors import ScanError
from scan.extensions.mcp.tools import ApiRequest, ApiResponse

MAX_RESULT_BYTES = 256 * 1024  # of text, which a model reads whole
TOO_LARGE = (
    "The response has {size} bytes; a tool returns at most {most}. Ask for less, such as by a"
    " smaller limit, or request {path} over HTTP."
)


def result_of(request: ApiRequest, response: ApiResponse) -> types.CallToolResult:
    if len(response.body) > MAX_RESULT_BYTES:
        text = TOO_LARGE.format(size=len(response.body), most=MAX_RESULT_BYTES, path=request.path)
        return _result(text, is_error=True)
    return _result(response.body.decode("utf-8", "replace"), is_error=response.status >= 400)


def result_of_error(error: ScanError) -> types.CallToolResult:
    return _result(orjson.dumps(error.body()).decode(), is_error=True)


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], is_error=is_error
    )
