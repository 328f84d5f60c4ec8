"""Fields of transactions that Blockscout shows on chains of some forms alone."""

from collections.abc import Mapping
from typing import Any

from scan.extensions.blockscout.objects import Object

# Blockscout's names of the OP Stack's fields, by those of a record's chainFields.
OF_OP_STACK = {
    "l1GasUsed": "l1_gas_used",
    "l1GasPrice": "l1_gas_price",
    "l1FeeScalar": "l1_fee_scalar",
}


def chain_fields(record: Mapping[str, Any], context: Mapping[str, Any]) -> Object:
    return {**_of_blobs(record, context), **_of_op_stack(record)}


def _of_blobs(record: Mapping[str, Any], context: Mapping[str, Any]) -> Object:
    if not record["blobVersionedHashes"]:
        return {}
    return {
        "max_fee_per_blob_gas": record["maxFeePerBlobGas"],
        "blob_versioned_hashes": record["blobVersionedHashes"],
        "blob_gas_used": context["blobGasUsed"],
        "blob_gas_price": context["blobGasPrice"],
        "burnt_blob_fee": context["blobFee"],
    }


def _of_op_stack(record: Mapping[str, Any]) -> Object:
    own, fee_parts = record.get("chainFields", {}), record.get("feeParts", {})
    if fee_parts.get("l1") is None:
        return {}
    operator = {} if fee_parts["operator"] is None else {"operator_fee": fee_parts["operator"]}
    shown = {name: own[field] for field, name in OF_OP_STACK.items() if field in own}
    return {"l1_fee": fee_parts["l1"], **shown, **operator}
