"""Contracts: /verify and /contracts."""

from scan.api.openapi.schemas import (
    CONTRACT,
    STATE_BLOCK,
    Json,
    address,
    any_case_address,
    array,
    extended,
    flag,
    form,
    hash32,
    hex_bytes,
    moment,
    nullable,
    one_of,
    operation,
    record,
    ref,
    sends,
    text,
)

TAG = "Contracts"
CONTRACT_EXAMPLE = "0xdac17f958d2ee523a2206206994597c13d831ec7"
MATCHES = ("full", "partial")
_VERSION = "0.8.26"

CONTRACT_PATHS: Json = {
    "/verify": {
        "post": operation(
            "verifyContract", TAG, "Show which source a contract was made from", ref("Verified"),
            description="Compiles the source and compares it with the indexed code. Settings that"
            " are not given are searched for. A full match includes the metadata, a partial one"
            " does not; a better earlier result stays. One client address has one compilation"
            " running or waiting; more are a 503, and so is one of 20 s while others wait.",
            body=sends(
                ref("VerifyRequest"),
                file={
                    "address": CONTRACT_EXAMPLE,
                    "sourceCode": "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n"
                    "contract Token {}",
                    "compilerVersion": _VERSION,
                    "license": "MIT",
                },
            ),
            errors=(404, 422, 502),
        ),
    },
    "/contracts/{address}": {
        "get": operation(
            "getContract", TAG, "A verified contract", ref("Contract"),
            parameters=(CONTRACT,), errors=(404, 502),
        ),
    },
    "/contracts/{address}/call": {
        "post": operation(
            "callContract", TAG, "Call a view or pure function", ref("CallAnswer"),
            description="The contract is a verified one; the call sees the newest block, or that"
            " named. An overloaded one is found by its arguments, or named whole:"
            " `f(uint256,address)`.",
            parameters=(CONTRACT, STATE_BLOCK),
            body=sends(
                ref("CallRequest"),
                balance={"functionName": "balanceOf", "args": [CONTRACT_EXAMPLE]},
                none={"functionName": "totalSupply"},
            ),
            errors=(404, 422, 502),
        ),
    },
}  # fmt: skip


def _switch(description: str) -> Json:
    return {**ref("Switch"), "description": description}


_PROXY = record(
    "What the contract hands its calls to.",
    {
        "type": text("How, such as eip1967 or eip1167.", "eip1967"),
        "implementation": address("To whom.", CONTRACT_EXAMPLE),
    },
)
_SETTINGS: Json = {
    "type": "object",
    "description": "The compiler settings that give the code.",
    "examples": [{"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}],
}

CONTRACT_SCHEMAS: Json = {
    "Switch": {
        "description": "True or false, also 0 and 1, as numbers or text.",
        "examples": [True],
        "anyOf": [
            {"type": "boolean"},
            {"type": "integer", "enum": [0, 1]},
            {"type": "string", "enum": ["0", "1", "true", "false"]},
        ],
    },
    "VerifyRequest": form(
        "A source, and what is known of how it was compiled.",
        {
            "address": any_case_address("The contract."),
            "sourceCode": text(
                "One Solidity file, or a Solidity standard JSON input, also in {{…}}. At most 1 MiB"
                " of sources.",
                "contract Token {}",
                minLength=1,
            ),
            "compilerVersion": text(
                "0.8.26, v0.8.26 or v0.8.26+commit.8a97fa7a.", _VERSION,
                pattern=r"^v?[0-9]+\.[0-9]+\.[0-9]+",
            ),
            "license": text("An SPDX identifier.", "MIT", maxLength=100),
            "contractName": text("`Token`, or `contracts/Token.sol:Token`.", "Token",
                                 maxLength=500),
            "optimizationUsed": _switch("Whether the optimizer ran."),
            "runs": {
                "description": "What it optimized for; also as text.",
                "examples": [200],
                "anyOf": [
                    {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
                    {"type": "string", "pattern": "^[0-9]{1,10}$"},
                ],
            },
            "evmVersion": text("Such as paris; `default` is the compiler's.", "paris",
                               maxLength=30),
            "viaIR": _switch("Whether it was compiled through Yul."),
            "constructorArguments": text(
                "ABI-encoded, in hex with or without 0x; compared with the creating"
                " transaction.", "0x",
                maxLength=2 + 2 * 48 * 1024,
            ),
            "libraries": {
                "type": "object",
                "description": "Addresses of libraries, by `Name` or `file.sol:Name`; or by file"
                " and then name.",
                "examples": [{"Library": CONTRACT_EXAMPLE}],
                "maxProperties": 200,
            },
        },
        ("address", "sourceCode", "compilerVersion"),
    ),
    "Verification": record(
        "What was verified.",
        {
            "address": address("The contract.", CONTRACT_EXAMPLE),
            "match": one_of("Whether the metadata agrees, too.", MATCHES),
            "creationMatch": nullable(
                one_of(
                    "As match, of the creating code; null where that is not known, differs, or was"
                    " given other constructor arguments.", MATCHES,
                )
            ),
            "contractName": text("The contract's name in the source.", "Token"),
            "filePath": text("The file it stands in.", "contracts/Token.sol"),
            "compilerVersion": text("The compiler's version.", f"{_VERSION}+commit.8a97fa7a"),
            "settings": _SETTINGS,
            "constructorArguments": nullable(
                hex_bytes("As the creating transaction has them; null where that is not known.")
            ),
        },
    ),
    "Verified": extended(
        "Verification",
        "The source gives the deployed code.",
        {
            "success": flag("True."),
            "message": text("What matched, in a sentence.", "Full match: the source, …"),
            "warning": nullable(
                text(
                    "What was given and is not so, though the code matches.",
                    "The constructor arguments given are not those of the creating transaction.",
                )
            ),
        },
    ),
    "Contract": extended(
        "Verification",
        "A verified contract.",
        {
            "abi": array({"type": "object"}, "Its ABI, as Solidity writes it."),
            "sources": {
                "type": "object",
                "description": "Its files, as in a standard JSON input.",
                "additionalProperties": record(
                    "A file.", {"content": text("Its text.", "contract Token {}")}
                ),
                "examples": [{"contracts/Token.sol": {"content": "contract Token {}"}}],
            },
            "license": nullable(text("An SPDX identifier.", "MIT")),
            "codeHash": hash32("keccak-256 of the deployed code."),
            "verifiedAt": moment("When it was verified."),
            "verifiedBy": nullable(
                address("The address with the same code that was verified, where it is another.")
            ),
            "proxy": {"anyOf": [_PROXY, {"type": "null"}], "description": "Set for a proxy."},
        },
    ),
    "CallRequest": form(
        "A function and its arguments.",
        {
            "functionName": text("`name`, or `name(type,type)`.", "balanceOf", maxLength=500),
            "args": array(
                {"description": "An integer as a number or as text, decimal or 0x; bytes as 0x;"
                 " a tuple as an array or an object; a mixed-case address with its checksum."},
                "What to call it with, in order.", maxItems=1000, default=[],
            ),
        },
        ("functionName",),
    ),
    "CallAnswer": record(
        "What the function returned.",
        {
            "result": {
                "description": "One output: the value; several: an array, or an object where all"
                " are named. Integers are text.",
                "examples": ["1000000000000000000"],
            },
            "implementation": address("Set where a proxy's implementation has the ABI.",
                                      CONTRACT_EXAMPLE),
        },
        optional=("implementation",),
    ),
}  # fmt: skip
