"""The Blockscout-compatible API in the document: a tag, since its publisher documents it."""

DESCRIPTION = """\
The Blockscout-compatible API: GET of the paths below /api/v2 that docs/compatible.md lists,
with Blockscout's parameters and objects. Lists are {items, next_page_params}; send next_page_params
back as the query string. Errors are {message}, and 422 {errors} for a parameter."""
TAGS = (
    {
        "name": "Blockscout",
        "description": DESCRIPTION,
        "externalDocs": {
            "url": "https://docs.blockscout.com",
            "description": "Blockscout's API v2",
        },
    },
)
