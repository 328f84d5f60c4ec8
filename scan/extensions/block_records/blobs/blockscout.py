"""The blobs of a transaction in Blockscout's form: their contents are not on the chain."""

from scan.extensions.blockscout.hooks import Blockscout
from scan.extensions.blockscout.routing import routes
from scan.extensions.blockscout.transactions import indexed
from scan.http.responses import Response, json_value

UNKNOWN = dict.fromkeys(("blob_data", "kzg_commitment", "kzg_proof"))

blueprint = routes("blobs")


@blueprint.path("/transactions/<transaction_hash>/blobs")
def list_blobs(transaction_hash: str) -> Response:
    hashes = indexed(transaction_hash).get("blobVersionedHashes") or ()
    return json_value({"items": [{"hash": versioned_hash, **UNKNOWN} for versioned_hash in hashes]})


HOOKS = Blockscout(blueprint=blueprint)
