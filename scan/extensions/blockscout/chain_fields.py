"""Fields of transactions that Blockscout shows on chains of some forms alone."""

from collections.abc import Mapping
from typing import Any

from scan.ethereum.forms.form import BLOB_GAS
from scan.extensions.blockscout.objects import Object

# Blockscout's names of the OP Stack's fields, by those of a record's chainFields.
OF_OP_STACK = {
    "l1GasUsed": "l1_gas_used",
    "l1GasPrice": "l1_gas_price",
    "l1FeeScalar": "l1_fee_scalar",
}


def chain_fields(record: Mapping[str, Any]) -> Object:
    """Return the fields that a transaction's record has; prices of blobs are only in a single
    transaction's."""
    return {**_of_blobs(record), **_of_op_stack(record)}


def _of_blobs(record: Mapping[str, Any]) -> Object:
    hashes = record["blobVersionedHashes"]
    if not hashes:
        return {}
    gas_used, fee = BLOB_GAS * len(hashes), record.get("feeParts", {}).get("blob")
    fields = {
        "max_fee_per_blob_gas": record["maxFeePerBlobGas"],
        "blob_versioned_hashes": hashes,
        "blob_gas_used": str(gas_used),
    }
    if fee is not None:
        fields |= {"blob_gas_price": str(int(fee) // gas_used), "burnt_blob_fee": fee}
    return fields


def _of_op_stack(record: Mapping[str, Any]) -> Object:
    own, fee_parts = record.get("chainFields", {}), record.get("feeParts", {})
    if fee_parts.get("l1") is None:
        return {}
    operator = {} if fee_parts["operator"] is None else {"operator_fee": fee_parts["operator"]}
    shown = {name: own[field] for field, name in OF_OP_STACK.items() if field in own}
    return {"l1_fee": fee_parts["l1"], **shown, **operator}
