"""The columns of each list's CSV file."""

from collections.abc import Mapping, Sequence

from scan import registry
from scan.extensions.exports.csv_cells import (
    BALANCE,
    BALANCE_SINCE,
    COIN,
    PARTIES,
    TIME,
    TOKEN_ID,
    YES_NO,
    Column,
    Context,
    Record,
    coins_field,
    fee_in_wei,
    fee_part,
    field,
    text_field,
    token_amount,
    token_type,
    trade_side,
    transferred,
    wei_field,
)
from scan.extensions.exports.csv_format import (
    BYTE_ORDER_MARK,
    amount,
    coins,
    lines,
    text,
    units,
    wei,
)

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "contractCreations": (
        *TIME,
        field("contract", "address"),
        *(field("creator"), field("factory"), field("transaction", "transactionHash")),
        *(text_field("label"), text_field("token_name", "tokenName")),
        text_field("token_symbol", "tokenSymbol"),
        text_field("contract_name", "contractName"),
        Column("source_verified", lambda record, _: YES_NO[record["verified"]]),
        Column("is_proxy", lambda record, _: YES_NO[record["isProxy"]]),
    ),
    "blocks": (
        *(TIME[0], TIME[1], field("block", "number")),
        *(field("hash"), field("parent_hash", "parentHash"), field("miner")),
        field("transactions", "txCount"),
        *(field("gas_used", "gasUsed"), field("gas_limit", "gasLimit")),
        wei_field("base_fee_wei", "baseFeePerGas"),
        field("size"),
    ),
    "transactions": (
        *TIME,
        field("transaction", "hash"),
        Column("status", lambda record, _: "success" if record["status"] else "failed"),
        *PARTIES,
        field("contract_created", "contractAddress"),
        Column("amount", transferred),
        COIN,
        Column("fee", lambda record, context: coins(fee_in_wei(record, context))),
        wei_field("value_wei", "value"),
        Column("fee_wei", lambda record, context: wei(fee_in_wei(record, context))),
        field("gas_used", "gasUsed"),
        wei_field("gas_price_wei", "gasPrice"),
        *(field("nonce"), field("method_id", "methodId"), field("type")),
        Column("l1_fee_wei", fee_part("l1")),
        Column("operator_fee_wei", fee_part("operator")),
        Column("mint_wei", lambda record, _: wei(record.get("mint"))),
    ),
    "transfers": (
        *TIME,
        field("transaction", "transactionHash"),
        *(field("log_index", "logIndex"), field("batch_index", "batchIndex")),
        *PARTIES,
        Column("amount", token_amount("value", "token")),
        text_field("symbol", "tokenSymbol"),
        Column("units", lambda record, _: units(record["value"])),
        field("token", "tokenAddress"),
        token_type("tokenType"),
        TOKEN_ID,
    ),
    "internalTransfers": (
        *TIME,
        field("transaction", "transactionHash"),
        field("transfer_index", "transferIndex"),
        field("type"),
        *PARTIES,
        coins_field("amount", "value"),
        COIN,
        wei_field("value_wei", "value"),
    ),
    "trades": (
        *TIME,
        field("transaction", "transactionHash"),
        field("log_index", "logIndex"),
        Column("dex", lambda record, _: text(record["dex"])),
        field("pool", "pairAddress"),
        field("maker"),
        *trade_side("in", "tokenIn", "amountIn"),
        *trade_side("out", "tokenOut", "amountOut"),
        Column("backed_by_transfers", lambda r, _: YES_NO[r["backedByTransfers"]]),
    ),
    "holders": (
        field("address"),
        Column(
            "amount",
            lambda record, context: amount(record["balance"], context.token["decimals"]),
        ),
        Column("symbol", lambda _, context: text(context.token["symbol"])),
        Column("units", lambda record, _: units(record["balance"])),
        BALANCE_SINCE,
    ),
    "contracts": (
        field("contract", "address"),
        Column("name", lambda record, _: text(record["contractName"])),
        field("compiler", "compilerVersion"),
        field("match"),
        Column("license", lambda record, _: text(record["license"] or "")),
        field("verified_utc", "verifiedAt"),
    ),
    "tokens": (
        field("token", "address"),
        Column("symbol", lambda record, _: text(record["symbol"])),
        Column("name", lambda record, _: text(record["name"])),
        token_type("type"),
        field("decimals"),
        Column("total_supply", lambda r, _: amount(r["totalSupply"], r["decimals"])),
        Column("total_supply_units", lambda record, _: units(record["totalSupply"])),
        field("holders", "holderCount"),
        Column("holders_since_block", lambda record, _: record.get("balancesSince")),
        field("first_seen_utc", "firstSeen"),
        Column("verified", lambda record, _: YES_NO[record["verified"]]),
        Column("larger_namesake", lambda record, _: record["largerNamesake"] or ""),
    ),
    "days": (
        field("date"),
        *(
            field(name, key)
            for name, key in (
                *(("blocks", "blocks"), ("transactions", "transactions")),
                *(("failed_transactions", "failedTransactions"),),
                *(("active_addresses", "activeAddresses"), ("new_addresses", "newAddresses")),
                *(("contracts_created", "contractsCreated"), ("token_transfers", "tokenTransfers")),
                *(("dex_trades", "dexTrades"), ("gas_used", "gasUsed")),
            )
        ),
        coins_field("fees", "fees"),
        coins_field("burnt_fees", "burntFees"),
        wei_field("fees_wei", "fees"),
        wei_field("burnt_fees_wei", "burntFees"),
    ),
    "tokenBalances": BALANCE,
    **registry.merged("exports", "COLUMNS"),
}  # fmt: skip


def csv_text(kind: str, records: Sequence[Record]) -> bytes:
    """Return a short list as a CSV file; its cells need no context."""
    shown, context = columns(kind, None), Context(None, "", {})
    rows = [[column.cell(record, context) for column in shown] for record in records]
    return BYTE_ORDER_MARK + lines([[column.name for column in shown], *rows])


def columns(kind: str, own: str | None) -> Sequence[Column]:
    """Return the columns of a list; `own` is the address in its path, if it has one."""
    return [column for column in COLUMNS[kind] if own is not None or not column.of_own]
