"""Sourcify's API v2: /v2/contract, /v2/verify and /chains, also below /server."""

from collections.abc import Mapping, Sequence

from scan.api.openapi.parts import (
    RATE_HEADERS,
    Json,
    any_case_address,
    array,
    flag,
    headers,
    moment,
    nullable,
    number,
    one_of,
    path,
    query,
    record,
    ref,
    sends,
    text,
)

TAG = "Sourcify"
SERVERS = {"": "", "/server": "AtServer"}  # prefixes, and what their operations' ids end in
_CONTRACT = "0xdAC17F958D2ee523a2206206994597C13D831ec7"
_IDENTIFIER = "contracts/Token.sol:Token"
_VERSION = "0.8.28+commit.7893614a"
_ID = "550e8400-e29b-41d4-a716-446655440000"
_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_MATCHES = ("exact_match", "match")
_ERRORS: Mapping[int, str] = {
    400: "Malformed, or of the wrong type: invalid_parameter, invalid_json.",
    401: "The API key sent is unknown or inactive: invalid_api_key.",
    404: "Unknown: unsupported_chain, job_not_found, contract_not_deployed.",
    409: "Both matches are exact already: already_verified.",
    413: "The body or the sources are too large: invalid_parameter.",
    415: "The body is not declared as application/json: invalid_parameter.",
    429: "The limit is used up, or two verifications of yours are not finished: too_many_requests.",
    503: "The database cannot serve now, or too many verifications wait: unavailable.",
}


def _answer(description: str, schema: Json, *names: str) -> Json:
    return {
        "description": description,
        "headers": headers(*RATE_HEADERS, *names),
        "content": {"application/json": {"schema": schema}},
    }


def _operation(
    name: str,
    summary: str,
    answers: Mapping[int, Json],
    errors: Sequence[int],
    *,
    parameters: Sequence[Json] = (),
    body: Json | None = None,
    description: str = "",
) -> Json:
    failures = {
        code: _answer(
            _ERRORS[code], ref("SourcifyError"), *(("Retry-After",) if code in (429, 503) else ())
        )
        for code in (400, 401, 429, 503, *errors)
    }
    described: Json = {
        "operationId": name,
        "tags": [TAG],
        "summary": summary,
        "description": description or summary,
        "security": [{}, {"ApiKey": []}],
        "parameters": [*parameters],
        "responses": {str(code): value for code, value in sorted({**failures, **answers}.items())},
    }
    if body:
        described["requestBody"] = {"required": True, "content": {"application/json": body}}
    return described


def _place() -> tuple[Json, Json]:
    chain_id = text("The indexed chain.", "31337", pattern="^[0-9]{1,20}$")
    return path("chain_id", chain_id), path("address", any_case_address("The contract.", _CONTRACT))


def _submission(name: str, summary: str, schema: str, example: Json, description: str) -> Json:
    answer = _answer("It is waiting to run.", ref("SourcifyVerification"))
    errors = (404, 409, 413, 415)
    body = sends(ref(schema), example=example)
    return _operation(
        name, summary, {202: answer}, errors,
        parameters=_place(), body=body, description=description,
    )  # fmt: skip


def _paths(ending: str) -> Json:
    unknown: Json = {"anyOf": [ref("SourcifyUnverified"), ref("SourcifyError")]}
    selectors = "comma-separated, such as `abi,compilation.name`"
    return {
        "/v2/contract/{chain_id}/{address}": {
            "get": _operation(
                f"getSourcifyContract{ending}", "A verified contract",
                {200: _answer("It is verified.", ref("SourcifyContract")),
                 404: _answer("It is not, or the chain is another.", unknown)},
                (),
                parameters=(
                    *_place(),
                    query("fields", text(f"What to return beside the matches: {selectors}, or"
                                         " `all`.", "abi,metadata")),
                    query("omit", text(f"What not to return of all: {selectors}.", "sources")),
                ),
            ),
        },
        "/v2/verify/{chain_id}/{address}": {
            "post": _submission(
                f"submitSourcifyVerification{ending}", "Verify by standard JSON",
                "SourcifyStandardJson",
                {
                    "stdJsonInput": {
                        "language": "Solidity",
                        "sources": {"contracts/Token.sol": {"content": "contract Token {}"}},
                        "settings": {},
                    },
                    "compilerVersion": _VERSION,
                    "contractIdentifier": _IDENTIFIER,
                },
                "Begins a verification, up to 5 s after which the contract may still be indexed."
                " Settings that are not given are searched for.",
            ),
        },
        "/v2/verify/metadata/{chain_id}/{address}": {
            "post": _submission(
                f"submitSourcifyMetadata{ending}", "Verify by the compiler's metadata file",
                "SourcifyMetadata",
                {
                    "metadata": {
                        "language": "Solidity",
                        "compiler": {"version": _VERSION},
                        "settings": {"compilationTarget": {"contracts/Token.sol": "Token"}},
                        "sources": {"contracts/Token.sol": {"content": "contract Token {}"}},
                    },
                    "sources": {"Token.sol": "contract Token {}"},
                },
                "Begins a verification as with standard JSON. Sources are found by the hashes that"
                " the file has of them.",
            ),
        },
        "/v2/verify/{verification_id}": {
            "get": _operation(
                f"getSourcifyVerification{ending}", "How a verification ended",
                {200: _answer("It waits, runs or is over.", ref("SourcifyJob"))}, (404,),
                parameters=(
                    path(
                        "verification_id",
                        text("From the submission; kept for a day.", _ID, pattern=_UUID),
                    ),
                ),
                description="How a verification ended. The response comes when it is over, or"
                " after 10 s.",
            ),
        },
        "/chains": {
            "get": _operation(
                f"listSourcifyChains{ending}", "The indexed chain",
                {200: _answer("One chain, or none yet.",
                              array(ref("SourcifyChain"), "The chain."))},
                (),
            ),
        },
    }  # fmt: skip


SOURCIFY_PATHS: Json = {
    prefix + at: page for prefix, ending in SERVERS.items() for at, page in _paths(ending).items()
}

_CHECKSUMMED = text("The contract, with its checksum.", _CONTRACT, pattern="^0x[0-9a-fA-F]{40}$")
_CHAIN_ID = text("The chain.", "31337", pattern="^[0-9]+$")
_UNVERIFIED: Json = {
    "match": nullable(one_of("The better of both.", _MATCHES)),
    "creationMatch": nullable(one_of("Of the creating code; null: not known.", _MATCHES)),
    "runtimeMatch": nullable(one_of("Of the deployed code.", _MATCHES)),
    "chainId": _CHAIN_ID,
    "address": _CHECKSUMMED,
}
_MINIMAL: Json = {
    **_UNVERIFIED,
    "verifiedAt": moment("When it was verified."),
    "matchId": text("Counts verifications.", "17", pattern="^[0-9]+$"),
}


def _any_object(description: str, example: Json) -> Json:
    return {"type": "object", "description": description, "examples": [example]}


def _maybe_object(description: str, example: Json) -> Json:
    return {**_any_object(description, example), "type": ["object", "null"]}


_CONTRACT_FIELDS: Json = {
    "creationBytecode": _any_object("Not stored: every member is null.", {}),
    "runtimeBytecode": _any_object("onchainBytecode; other members are null.", {}),
    "deployment": _any_object("The creating transaction; null where a contract created it.", {}),
    "sources": _any_object("Its files.", {"contracts/Token.sol": {"content": "contract Token {}"}}),
    "compilation": _any_object("How it was compiled.", {"name": "Token"}),
    "abi": array({"type": "object"}, "Its ABI, as Solidity writes it."),
    "metadata": _maybe_object("The compiler's metadata file; null where it was not kept.", {}),
    "storageLayout": {"type": "null", "description": "Not stored.", "examples": [None]},
    "userdoc": _maybe_object("The documentation for users.", {}),
    "devdoc": _maybe_object("The documentation for developers.", {}),
    "stdJsonInput": _any_object("What compiles to it.", {"language": "Solidity"}),
    "stdJsonOutput": _any_object("What the compiler gave, as far as it is stored.", {}),
    "proxyResolution": _any_object(
        "Where its calls go; proxyResolutionError while the node does not answer.",
        {"isProxy": False, "proxyType": None, "implementations": []},
    ),
}
_TRANSACTION: Json = {
    "description": "Accepted and not needed: the index knows the creating transaction.",
    "type": ["string", "null"],
    "pattern": "^0[xX][0-9a-fA-F]{64}$",
    "examples": ["0x" + "ab" * 32],
}

SOURCIFY_SCHEMAS: Json = {
    "SourcifyError": record(
        "What went wrong.",
        {
            "customCode": text("A word a program can act on.", "unsupported_chain"),
            "message": text("A sentence a person can act on.", "The chain is not supported"),
            "errorId": text("Names this error.", _ID, pattern=_UUID),
        },
    ),
    "SourcifyUnverified": record("A contract that is not verified.", _UNVERIFIED),
    "SourcifyContract": record(
        "A verified contract: what was selected of it.",
        {**_MINIMAL, **_CONTRACT_FIELDS},
        optional=("verifiedAt", "matchId", *_CONTRACT_FIELDS),
    ),
    "SourcifyVerification": record(
        "A verification that was begun.",
        {"verificationId": text("Asks for the result.", _ID, pattern=_UUID)},
    ),
    "SourcifyJob": record(
        "A verification.",
        {
            "isJobCompleted": flag("Whether it is over."),
            "verificationId": text("Its id.", _ID, pattern=_UUID),
            "jobStartTime": moment("When it was submitted."),
            "jobFinishTime": moment("When it ended."),
            "error": {"$ref": "#/components/schemas/SourcifyError"},
            "contract": record(
                "The result.", _MINIMAL, optional=("verifiedAt", "matchId")
            ),
        },
        optional=("jobFinishTime", "error"),
    ),
    "SourcifyChain": record(
        "A chain.",
        {
            "name": text("Its id in words.", "Chain 31337"),
            "chainId": number("Its id.", 31337),
            "supported": flag("True."),
        },
    ),
    "SourcifyStandardJson": {
        **record(
            "A standard JSON input and the contract in it.",
            {
                "stdJsonInput": _any_object(
                    "At most 1 MiB of sources.", {"language": "Solidity", "sources": {}}
                ),
                "compilerVersion": text("With or without v.", _VERSION, maxLength=500),
                "contractIdentifier": text("Its file and name.", _IDENTIFIER, maxLength=500),
                "creationTransactionHash": _TRANSACTION,
            },
        ),
        "required": ["stdJsonInput", "compilerVersion", "contractIdentifier"],
    },
    "SourcifyMetadata": {
        **record(
            "The compiler's metadata file and the sources it names.",
            {
                "metadata": _any_object("The file.", {"language": "Solidity"}),
                "sources": _any_object("Texts by any name.", {"Token.sol": "contract Token {}"}),
                "creationTransactionHash": _TRANSACTION,
            },
        ),
        "required": ["metadata", "sources"],
    },
}  # fmt: skip
