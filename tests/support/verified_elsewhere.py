"""Another explorer with verified contracts, which answers as Blockscout, Sourcify and Etherscan do.

The forms are those of their documentation: Blockscout's API v2 /smart-contracts, Sourcify's API v2
/contract, Etherscan's getsourcecode. Nothing of Scan is imported.
"""

import json
from collections import namedtuple

from flask import Flask, Response, jsonify, request

MATCHES = {"full": "exact_match", "partial": "match"}


class Verified(
    namedtuple(
        "Verified",
        "address standard path name version match language",
        defaults=("full", "Solidity"),
    )
):
    """A contract as it was verified there; `version` is such as 0.8.28+commit.7893614a."""


class Elsewhere:
    """The explorer's application; `refusals` are responses that come before any other."""

    def __init__(self, chain_id):
        self.app = Flask(__name__)
        self.contracts = {}
        self.refusals = []
        self.answers = {}
        self.requests = []
        self._chain_id = chain_id
        self.app.before_request(self._before)
        rules = {
            "/api/v2/smart-contracts": self._listed,
            "/api/v2/smart-contracts/<address>": self._blockscout,
            "/server/v2/contract/<chain>/<address>": self._sourcify,
            "/server/v2/contracts/<chain>": self._listed_by_sourcify,
            "/api": self._etherscan,
        }
        for rule, view in rules.items():
            self.app.add_url_rule(rule, view.__name__, view)

    def add(self, contract):
        self.contracts[contract.address.lower()] = contract

    def _before(self):
        self.requests.append(request.full_path)
        if self.refusals:
            return self.refusals.pop(0)
        address = request.args.get("address") or request.path.rpartition("/")[2]
        if (made := self.answers.get(address)) is not None:
            return Response(made, content_type="application/json")
        return None

    def _listed(self):
        """Pages of two, by a key of which only the explorer knows the meaning."""
        rows = sorted(self.contracts)
        first = int(request.args.get("items_count", 0))
        following = {"items_count": first + 2} if first + 2 < len(rows) else None
        items = [{"address": {"hash": row}, "language": "solidity"} for row in rows[first:][:2]]
        return jsonify({"items": items, "next_page_params": following})

    def _listed_by_sourcify(self, chain):
        rows = sorted(self.contracts)
        last = request.args.get("afterMatchId", "0")
        page = list(enumerate(rows, start=1))[int(last) : int(last) + 2]
        return jsonify(
            {"results": [{"address": row, "matchId": str(n), "chainId": chain} for n, row in page]}
        )

    def _blockscout(self, address):
        contract = self.contracts.get(address.lower())
        if contract is None:
            return {"deployed_bytecode": "0x60", "creation_bytecode": "0x60"}
        settings = contract.standard["settings"]
        sources = {p: s["content"] for p, s in contract.standard["sources"].items()}
        main = sources.pop(contract.path)
        return {
            "is_verified": True,
            "is_fully_verified": contract.match == "full",
            "name": contract.name,
            "language": contract.language.lower(),
            "file_path": contract.path,
            "source_code": main,
            "additional_sources": [
                {"file_path": path, "source_code": text} for path, text in sources.items()
            ],
            "compiler_version": f"v{contract.version}",
            "compiler_settings": settings,
        }

    def _sourcify(self, chain, address):
        contract = self.contracts.get(address.lower())
        record = {"match": None, "creationMatch": None, "runtimeMatch": None}
        if contract is None or chain != self._chain_id:
            return {**record, "chainId": chain, "address": address}, 404
        record = dict.fromkeys(record, MATCHES[contract.match])
        compilation = {
            "language": contract.language,
            "compilerVersion": contract.version,
            "compilerSettings": contract.standard["settings"],
            "name": contract.name,
            "fullyQualifiedName": f"{contract.path}:{contract.name}",
        }
        return {**record, "compilation": compilation, "stdJsonInput": contract.standard}

    def _etherscan(self):
        contract = self.contracts.get(request.args["address"].lower())
        row = {"SourceCode": "", "SimilarMatch": ""}
        if contract is not None:
            row |= _etherscan_row(contract)
        return {"status": "1", "message": "OK", "result": [row]}


def _etherscan_row(contract):
    """One file is plain text, several are standard JSON in doubled braces."""
    settings, sources = contract.standard["settings"], contract.standard["sources"]
    optimizer = settings.get("optimizer", {})
    is_single = len(sources) == 1 and settings.keys() <= {"optimizer", "evmVersion"}
    [first, *_] = sources.values()
    text = first["content"] if is_single else f"{{{json.dumps(dict(contract.standard))}}}"
    language = contract.language.lower()
    return {
        "SourceCode": text,
        "ContractName": contract.name,
        "ContractFileName": contract.path,
        "CompilerVersion": f"v{contract.version}"
        if language == "solidity"
        else f"{language}:{contract.version}",
        "OptimizationUsed": "1" if optimizer.get("enabled") else "0",
        "Runs": str(optimizer.get("runs", 200)),
        "EVMVersion": settings.get("evmVersion", "Default"),
    }
