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
    number,
    one_of,
    operation,
    or_null,
    query,
    record,
    ref,
    sends,
    text,
)
from scan.contracts.function_lookup import MUTABILITIES
from scan.contracts.proxy_contracts import BY_CODE, BY_STATE
from scan.verification.contract_match import FULL, PARTIAL, RUNTIME

TAG = "Contracts"
CONTRACT_EXAMPLE = "0xdac17f958d2ee523a2206206994597c13d831ec7"
MATCHES = (FULL, PARTIAL, RUNTIME)
MATCH = (
    "Full if the metadata is equal, too; runtime if the runtime code matches and the creation code"
    " does not, or, of a contract with the code of a verified one (`verifiedBy`), is not known to:"
    " the constructor or initial values may differ from those in the source."
)
_VERSION = "0.8.26"

PATHS: Json = {
    "/verify": operation(
        "post", "verifyContract", "Verify a contract's source", ref("Verified"), tag=TAG,
        description="Compiles the source and compares it with the indexed bytecode. Missing"
        " settings are searched for. A full match includes the metadata, a partial match does"
        " not; a better earlier result is kept. A client address may have one compilation"
        " running or waiting; a second one returns 503, as does one of more than 20 s while"
        " others wait.",
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
    "/contracts/{address}": operation(
        "get", "getContract", "A verified contract", ref("Contract"), tag=TAG,
        parameters=(CONTRACT,), errors=(404, 502),
    ),
    "/contracts/{address}/call": operation(
        "post", "callContract", "Call a view or pure function", ref("CallAnswer"), tag=TAG,
        description="Of a verified contract, at the newest block or at `block`. An overloaded"
        " function is selected by its arguments, or by its full signature,"
        " `f(uint256,address)`.",
        parameters=(CONTRACT, STATE_BLOCK),
        body=sends(
            ref("CallRequest"),
            balance={"functionName": "balanceOf", "args": [CONTRACT_EXAMPLE]},
            none={"functionName": "totalSupply"},
        ),
        errors=(404, 422, 502),
    ),
    "/contracts/{address}/encode": operation(
        "post", "encodeCall", "Encode a call for a wallet", ref("EncodedCall"), tag=TAG,
        description="Of any function of a verified contract, as in /call. Nothing is signed or"
        " sent. With `from` the call is tried first; if it reverts, the response is 422.",
        parameters=(CONTRACT,),
        body=sends(ref("EncodeRequest"), mint={"functionName": "mint", "args": ["1"]}),
        errors=(404, 422, 502),
    ),
    "/contracts/{address}/bytecode": operation(
        "get", "getBytecode", "The code at an address, verified or not", ref("Bytecode"), tag=TAG,
        parameters=(CONTRACT, query("disassembly", flag("Whether to include it."))),
        errors=(404, 502),
    ),
    "/contracts/{address}/source": operation(
        "get", "getSource", "A verified contract's sources, as a file",
        {"type": "object", "description": "A standard JSON input."}, tag=TAG,
        parameters=(CONTRACT, query("format", one_of("The file's.", ("standard-json", "zip")))),
        errors=(404, 502), more_types=("application/zip",),
    ),
    "/contracts/{address}/claims": operation(
        "get", "listClaims", "What other explorers claim of a contract not verified here", tag=TAG,
        description="An operator imported it (`scan contracts import`), and it cannot be compiled"
        " here. Nothing is decoded by a claim.",
        parameters=(CONTRACT,),
        result=record("Claims.", {"claims": array(ref("Claim"), "At most 20, by their source.")}),
    ),
    "/compilers": operation(
        "get", "listCompilers", "Compilers for /verify, newest first", tag=TAG,
        result=record("Compilers.", {"solidity": array(
            record("A release.", {"version": text("Its number.", _VERSION),
                                  "installed": flag("If not, /verify installs it.")}),
            "Solidity's.")}),
    ),
    "/contracts/{address}/values": operation(
        "get", "getContractValues", "All functions without arguments, called", ref("Values"),
        tag=TAG,
        description="Also of a proxy's implementation; at the newest indexed block.",
        parameters=(CONTRACT,), errors=(404, 422, 502),
    ),
}  # fmt: skip


def _switch(description: str) -> Json:
    return {**ref("Switch"), "description": description}


_PROXY = record(
    "A proxy.",
    {
        "type": one_of("Its kind.", [*dict.fromkeys(kind.name for kind in (*BY_CODE, *BY_STATE))]),
        "implementation": address("Its implementation, or the first one.", CONTRACT_EXAMPLE),
        "implementations": array(address("One.", CONTRACT_EXAMPLE), "Of several, all."),
    },
    optional=("implementations",),
)
_SETTINGS: Json = {
    "type": "object",
    "description": "The compiler settings.",
    "examples": [{"optimizer": {"enabled": True, "runs": 200}, "evmVersion": "cancun"}],
}

SCHEMAS: Json = {
    "Switch": {
        "description": "A boolean, or 0 or 1, also as text.",
        "examples": [True],
        "anyOf": [
            {"type": "boolean"},
            {"type": "integer", "enum": [0, 1]},
            {"type": "string", "enum": ["0", "1", "true", "false"]},
        ],
    },
    "VerifyRequest": form(
        "A source and its compiler settings.",
        {
            "address": any_case_address("The contract."),
            "sourceCode": text(
                "A Solidity file, or a standard JSON input, also in {{…}}. Sources of at most"
                " 1 MiB.",
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
            "optimizationUsed": _switch("Whether the optimizer was enabled."),
            "runs": {
                "description": "The optimizer's runs, also as text.",
                "examples": [200],
                "anyOf": [
                    {"type": "integer", "minimum": 0, "maximum": 2**32 - 1},
                    {"type": "string", "pattern": "^[0-9]{1,10}$"},
                ],
            },
            "evmVersion": text("Such as paris, or `default`.", "paris",
                               maxLength=30),
            "viaIR": _switch("Whether it was compiled through Yul."),
            "constructorArguments": text(
                "ABI-encoded hex, with or without 0x; compared with the creating transaction.",
                "0x",
                maxLength=2 + 2 * 48 * 1024,
            ),
            "libraries": {
                "type": "object",
                "description": "Addresses by `Name` or `file.sol:Name`, or by file and name.",
                "examples": [{"Library": CONTRACT_EXAMPLE}],
                "maxProperties": 200,
            },
        },
        ("address", "sourceCode", "compilerVersion"),
    ),
    "Verification": record(
        "A verification.",
        {
            "address": address("The contract.", CONTRACT_EXAMPLE),
            "match": one_of(MATCH, MATCHES),
            "creationMatch": {
                "description": "The match of the creation code; false if it differs, null if it was"
                " not compared, or if the submitted constructor arguments differ.",
                "examples": [FULL],
                "anyOf": [
                    {"type": "string", "enum": [FULL, PARTIAL]},
                    {"type": "boolean"},  # client generators know no enumeration of booleans
                    {"type": "null"},
                ],
            },
            "contractName": text("The contract's name in the source.", "Token"),
            "filePath": text("The contract's file.", "contracts/Token.sol"),
            "compilerVersion": text("The compiler's version.", f"{_VERSION}+commit.8a97fa7a"),
            "settings": _SETTINGS,
            "constructorArguments": nullable(
                hex_bytes("Those of the creating transaction; null if unknown.")
            ),
        },
    ),
    "Verified": extended(
        "Verification",
        "A successful verification.",
        {
            "success": flag("True."),
            "message": text("The result.", "Full match: compiling the source …"),
            "warning": nullable(
                text(
                    "A submitted value that is wrong although the code matches.",
                    "The submitted constructor arguments differ from …",
                )
            ),
        },
    ),
    "Contract": extended(
        "Verification",
        "A verified contract.",
        {
            "abi": array({"type": "object"}, "Its ABI in Solidity's format."),
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
                address("The verified address with the same code, if it is a different one.")
            ),
            "constructor": nullable(
                array(ref("DecodedArgument"), "Its decoded arguments; null if unknown.")
            ),
            "creation": ref("Creation"),
            "proxy": or_null(_PROXY, "Null if not a proxy."),
        },
    ),
    "CallRequest": form(
        "A function and its arguments.",
        {
            "functionName": text("`name`, or `name(type,type)`.", "balanceOf", maxLength=500),
            "args": array(
                {"description": "Integers as numbers, or as decimal or 0x strings; bytes as 0x;"
                 " tuples as arrays or objects. Mixed-case addresses must have a valid checksum."},
                "Its arguments, in order.", maxItems=1000, default=[],
            ),
        },
        ("functionName",),
    ),
    "CallAnswer": record(
        "The function's result.",
        {
            "result": {
                "description": "One output: its value; several: an array. Integers are strings.",
                "examples": ["1000000000000000000"],
            },
            "implementation": address("Set if the function is in a proxy's implementation.",
                                      CONTRACT_EXAMPLE),
        },
        optional=("implementation",),
    ),
    "Creation": {
        "type": ["object", "null"],
        "description": "creator (the transaction's sender), factory (a contract, or null),"
        " transactionHash, blockNumber and timestamp; null if not indexed.",
    },
    "Claim": record(
        "What another explorer claims of a contract.",
        {
            "source": text("The URL or file that it was imported from.", "https://explorer.org"),
            "contractName": nullable(text("As the source has it.", "Token")),
            "compilerVersion": nullable(text("As the source has it.", "0.3.10")),
            "match": nullable(one_of("As the source has it.", MATCHES)),
            "reason": text("Why it cannot be compiled here.", "there is no compiler for vyper"),
            "receivedAt": moment("When it was imported."),
        },
    ),
    "Bytecode": record(
        "Code.",
        {
            "address": address("The account.", CONTRACT_EXAMPLE),
            "codeHash": hash32("keccak-256 of the code."),
            "size": number("In bytes.", 24_576),
            "bytecode": hex_bytes("The code."),
            "metadata": {
                "type": ["object", "null"],
                "description": "What the compiler wrote at its end: offset, compilerVersion,"
                " hashType and hash.",
                "examples": [{"offset": 24_523, "compilerVersion": _VERSION}],
            },
            "delegate": nullable(address("Of an account (EIP-7702).", CONTRACT_EXAMPLE)),
            "verified": flag("Whether its source is verified."),
            "similarTo": nullable(
                address("A verified contract that differs only in immutables and metadata.",
                        CONTRACT_EXAMPLE)
            ),
            "disassembly": array(
                {"type": "object"}, "offset, opcode and data of each instruction; data is its"
                " operand, null without one. At most the first 65,536 bytes, without metadata.",
            ),
        },
        optional=("disassembly",),
    ),
    "EncodeRequest": form(
        "A function, its arguments and the coin sent along.",
        {
            "functionName": text("As in /call.", "transfer", maxLength=500),
            "args": array({}, "As in /call.", maxItems=1000, default=[]),
            "value": {
                "description": "Wei for a payable function; also as text.",
                "examples": ["0"],
                "type": ["integer", "string"],
            },
            "from": any_case_address("The sender, to try the call."),
        },
        ("functionName",),
    ),
    "EncodedCall": record(
        "A call to sign.",
        {
            "to": address("The contract.", CONTRACT_EXAMPLE),
            "data": hex_bytes("The calldata."),
            "value": text("Wei, as decimal text.", "0"),
            "chainId": nullable(number("The chain's id.", 1)),
            "function": text("Its full signature.", "transfer(address,uint256)"),
            "stateMutability": one_of("Of the function.", MUTABILITIES),
            "implementation": address("As in /call.", CONTRACT_EXAMPLE),
        },
        optional=("implementation",),
    ),
    "Values": record(
        "What functions without arguments return.",
        {
            "address": address("The contract.", CONTRACT_EXAMPLE),
            "block": number("The block they were called at.", 353),
            "implementation": nullable(address("A proxy's implementation.", CONTRACT_EXAMPLE)),
            "complete": flag("Whether these are all; at most 40 are called."),
            "values": array(ref("Value"), "One per function, in the ABI's order."),
        },
    ),
    "Value": record(
        "What one function returns.",
        {
            "function": text("Its signature.", "totalSupply()"),
            "outputs": array({"type": "object"}, "The name and type of each output."),
            "result": {"description": "As in /call; null with an error.", "examples": ["1000"]},
            "error": nullable(text("Why there is no result.", "It failed.")),
        },
    ),
}  # fmt: skip
