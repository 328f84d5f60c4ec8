"""/v2 and /server: contracts, verification, and the list of chains, which has one entry; of
version 1 what Hardhat 2 sends. Verification requests of Sourcify's become bodies of /api/v1/verify.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import orjson
from flask import Blueprint, Flask, request

from scan import parameters
from scan.errors import InvalidParameter, NotFound, Unavailable
from scan.extensions.sourcify import fields
from scan.extensions.sourcify.contract_record import (
    columns_of,
    contract_record,
    minimal_record,
    usual_fields,
)
from scan.extensions.verification_jobs.jobs import Job, VerificationJobs
from scan.hex import data
from scan.http import hooks, request_bodies
from scan.http.current_request import client_address, query_arguments, reader
from scan.http.interfaces import Interface
from scan.http.json_responses import Response, json_value
from scan.http.services import services
from scan.json_bodies import MAX_SOURCES_BYTES
from scan.parameters import BIGINT_MAX, integer_text
from scan.queries import contracts, network
from scan.settings import Settings
from scan.verification.contract_match import FULL
from scan.verification.metadata_request import check_number, member, request_of, text_member


def from_standard_json(address: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a submission's body from a standard JSON input, the compiler's version and the
    contract's `path:Name`."""
    standard_input = member(body, "stdJsonInput")
    sources = standard_input.get("sources")
    check_number(sources if isinstance(sources, dict) else {})
    identifier = text_member(body, "contractIdentifier")
    if ":" not in identifier:
        form = "the file path and the contract name separated by a ':'"
        message = f"The contractIdentifier must consist of {form}."
        raise InvalidParameter(message, field="contractIdentifier")
    return {
        "address": address,
        "sourceCode": json.dumps(standard_input),
        "compilerVersion": text_member(body, "compilerVersion"),
        "contractName": identifier,
    }


MOST_LISTED = 200
WAIT_FOR_CONTRACT_S = 5.0  # clients verify what they have just deployed
WAIT_FOR_JOB_S = 10.0  # less than a stopping worker waits for its requests

MOST_ADDRESSES = 20
STATUSES = {FULL: "perfect"}  # of version 1; of all others "partial"

blueprint = Blueprint("sourcify", __name__)
version_1 = Blueprint("sourcify_version_1", __name__, url_prefix="/server")


@blueprint.get("/v2/contract/<chain_id>/<address>")
def get_contract(chain_id: str, address: str) -> Response:
    contract = parameters.address(address)
    selection = fields.selected(query_arguments("fields", "omit"))
    own_chain = _require_own_chain(chain_id)
    stored = contracts.get_or_index(reader(), contract, columns_of(selection))
    if not stored.has_source:
        return json_value(minimal_record(own_chain, contract, None, None), 404)
    creation = None
    if fields.reads_creation(selection.get("creationBytecode", ())):
        creations = services().verifier.creations
        with suppress(Unavailable):
            creation = creations.input_of(contract, stored.since_block or 0, reader().node)
        if creation is None:  # the node does not give it now
            reader().do_not_cache()
    return json_value(contract_record(reader(), own_chain, contract, stored, selection, creation))


@blueprint.get("/v2/contract/all-chains/<address>")
def get_on_all_chains(address: str) -> Response:
    contract = parameters.address(address)
    query_arguments()
    stored = contracts.get(reader(), contract, ())
    own_chain = reader().sources.chain_id.read()
    if own_chain is None or not stored.has_source:
        return json_value({"results": []}, 404)
    record = minimal_record(own_chain, contract, stored.match, stored.creation_match)
    return json_value({"results": [record | usual_fields(stored)]})


@blueprint.get("/v2/contracts/<chain_id>")
def list_contracts(chain_id: str) -> Response:
    """Return verified contracts in the order of their matches' ids, those verified last first."""
    arguments = query_arguments("sort", "limit", "afterMatchId")
    sort = parameters.one_of(arguments.get("sort", "desc"), "sort", ("asc", "desc"))
    start = 0 if sort == "asc" else BIGINT_MAX
    own_chain = _require_own_chain(chain_id)
    (rows,) = reader().row(
        "queries/verified_contracts_list_by_match",
        limit=integer_text(arguments, "limit", default=MOST_LISTED, least=1, most=MOST_LISTED),
        is_descending=sort == "desc",
        after=integer_text(arguments, "afterMatchId", default=start, least=0),
    )
    records = []
    for row in orjson.loads(rows):
        address = data(row["address"])
        record = minimal_record(own_chain, address, row["match"], row["creationMatch"])
        records.append(record | {name: row[name] for name in ("verifiedAt", "matchId")})
    return json_value({"results": records})


@blueprint.post("/v2/verify/<chain_id>/<address>")
def verify(chain_id: str, address: str) -> Response:
    return _submit(chain_id, address, from_standard_json(address, _body()))


@blueprint.post("/v2/verify/metadata/<chain_id>/<address>")
def verify_metadata(chain_id: str, address: str) -> Response:
    body = _body()
    submission = request_of(address, member(body, "metadata"), member(body, "sources"))
    return _submit(chain_id, address, submission)


@blueprint.get("/v2/verify/<verification_id>")
def get_verification(verification_id: str) -> Response:
    """Return a job, after waiting up to WAIT_FOR_JOB_S for its end to spare clients requests."""
    job = services().sources.get(VerificationJobs).wait(verification_id, WAIT_FOR_JOB_S)
    if job is None:
        raise fields.JobNotFound(f"No verification job found for id {verification_id[:100]}")
    return json_value(_job_record(job))


@blueprint.get("/chains")
def list_chains() -> Response:
    chain_id = reader().sources.chain_id.read()
    if chain_id is None:
        return json_value([])
    name = network.name_of(chain_id, services().settings.chain_name)
    return json_value([{"name": name, "chainId": int(chain_id), "supported": True}])


@version_1.get("/check-all-by-addresses")
def check_addresses() -> Response:
    """Return which of some contracts are verified on some chains."""
    arguments = query_arguments("addresses", "chainIds")
    texts = parameters.required(arguments, "addresses").split(",")
    if len(texts) > MOST_ADDRESSES:
        message = f"addresses may have at most {MOST_ADDRESSES}."
        raise InvalidParameter(message, field="addresses")
    listed = parameters.required(arguments, "chainIds").split(",")
    own_chain = reader().sources.chain_id.read()
    is_listed = own_chain in {fields.canonical_id(chain_id) for chain_id in listed}
    records: list[dict[str, object]] = []
    for text in texts:
        stored = contracts.get(reader(), parameters.address(text), ())
        if stored.has_source and is_listed:
            on_chain = {"chainId": own_chain, "status": STATUSES.get(str(stored.match), "partial")}
            records.append({"address": text, "chainIds": [on_chain]})
        else:
            records.append({"address": text, "status": "false"})
    return json_value(records)


@version_1.post("")
def verify_files() -> Response:
    """Verify by files by their names, one of which is metadata.json, and return the result."""
    body = _body()
    address, chain_id = text_member(body, "address"), text_member(body, "chain")
    texts = dict(member(body, "files"))
    try:
        metadata = orjson.loads(str(texts.pop("metadata.json", "")))
    except ValueError:
        metadata = None
    if not isinstance(metadata, dict):
        raise InvalidParameter("files must have metadata.json, as JSON.", field="files")
    try:
        job_id = _started(chain_id, address, request_of(address, metadata, texts))
    except fields.AlreadyVerified:
        return _result(address, FULL)
    job = services().sources.get(VerificationJobs).wait(job_id, WAIT_FOR_JOB_S)
    if job is None or not job.is_over:
        message = "The verification has not ended yet; look up the address later."
        raise Unavailable(message, retry_after_s=int(WAIT_FOR_JOB_S))
    if job.match is None:
        return json_value({"error": job.message}, 400)
    return _result(address, job.match)


def _result(address: str, match: str) -> Response:
    status = STATUSES.get(match, "partial")
    chain_id = reader().sources.chain_id.read()
    return json_value({"result": [{"address": address, "chainId": chain_id, "status": status}]})


def _body() -> dict[str, object]:
    """Return the body; a creation's hash has no use, since the index has the transaction."""
    request.max_content_length = MAX_SOURCES_BYTES
    body = request_bodies.json_object()
    if body.get("creationTransactionHash") is not None:
        parameters.hash32(body["creationTransactionHash"], "creationTransactionHash")
    return body


def _require_own_chain(chain_id: str) -> str:
    """Return the chain's id; raises UnsupportedChain for any chain other than the indexed one."""
    canonical, own_chain = (fields.canonical_id(chain_id), reader().sources.chain_id.read())
    if own_chain is None or own_chain != canonical:
        raise fields.UnsupportedChain(chain_id)
    return own_chain


def _submit(chain_id: str, address: str, submission: Mapping[str, Any]) -> Response:
    return json_value({"verificationId": _started(chain_id, address, submission)}, 202)


def _started(chain_id: str, address: str, submission: Mapping[str, Any]) -> str:
    """Submit a verification, and return the job's id."""
    _require_own_chain(chain_id)
    stored = contracts.get_or_index(reader(), parameters.address(address), ())
    if stored.verifier is None and stored.is_full_match:
        matches = "runtimeMatch and creationMatch both being exact matches"
        contract = f"Contract {address} on chain {chain_id}"
        raise fields.AlreadyVerified(f"{contract} is already verified with {matches}.")
    try:
        jobs = services().sources.get(VerificationJobs)
        return jobs.submit(submission, client_address(), wait_s=WAIT_FOR_CONTRACT_S)
    except InvalidParameter as error:
        if error.field == "sourceCode":
            message = error.message.replace("sourceCode", "stdJsonInput")
            raise InvalidParameter(message, field="stdJsonInput") from None
        raise
    except NotFound as error:
        raise fields.ContractNotDeployed(error.message) from None


def _job_record(job: Job) -> dict[str, Any]:
    chain_id = reader().sources.chain_id.read() or ""
    contract = minimal_record(chain_id, job.address, job.match, job.creation_match)
    if job.match is not None:
        contract |= usual_fields(contracts.get(reader(), job.address, ()))
    record: dict[str, Any] = {
        "isJobCompleted": job.is_over,
        "verificationId": job.id,
        "jobStartTime": _iso(job.created_at),
    }
    if job.finished_at is not None:
        record["jobFinishTime"] = _iso(job.finished_at)
    if job.error_code is not None:
        error = {"customCode": job.error_code, "message": job.message, "errorId": job.id}
        record["error"] = error
    return {**record, "contract": contract}


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def register(app: Flask, _settings: Settings) -> Sequence[Interface]:
    app.register_blueprint(blueprint)
    app.register_blueprint(blueprint, name="sourcify_server", url_prefix="/server")
    app.register_blueprint(version_1)
    return (fields.SOURCIFY,)


HOOKS = hooks.Interfaces(register=register)
