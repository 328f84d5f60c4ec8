"""The columns of each list's CSV file, and the cells that a record has in them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.ethereum.blocks import MAX_TOPICS
from scan.ethereum.units import COIN_DECIMALS
from scan.exports.csv_format import (
    BYTE_ORDER_MARK,
    Cell,
    amount,
    coins,
    date_time,
    lines,
    text,
    token_id,
    units,
    wei,
)
from scan.exports.history_cells import assets, counterparties, fee
from scan.queries.network import token_standard

Record = Mapping[str, Any]


class Context(NamedTuple):
    """Values that cells need beside their record: `own` is the address in the list's path, `coin`
    the coin's symbol, `token` the record of the token whose holders are listed."""

    own: str | None
    coin: str
    token: Record
    chain_id: str | None = None


class Column(NamedTuple):
    name: str
    cell: Callable[[Record, Context], Cell]
    of_own: bool = False  # only in the list of an address


def _field(name: str, key: str = "") -> Column:
    return Column(name, lambda record, _: record[key or name])


def _name(name: str, key: str = "") -> Column:
    return Column(name, lambda record, _: text(record[key or name] or ""))


def _token_type(key: str) -> Column:
    """Return the column of a token's standard as pages call it; empty for the coin."""
    return Column("token_type", lambda r, c: token_standard(r[key], c.chain_id) if r[key] else None)


def _coins(name: str, key: str) -> Column:
    return Column(name, lambda record, _: coins(record[key]))


def _wei(name: str, key: str) -> Column:
    return Column(name, lambda record, _: wei(record[key]))


def _direction(record: Record, context: Context) -> str:
    """Return `in`, `out` or `self`, seen from `own`; a created contract is a recipient, too."""
    is_sender = record["fromAddress"] == context.own
    recipient = record["toAddress"] or record.get("contractAddress")
    if is_sender:
        return "self" if recipient == context.own else "out"
    return "in"


def _fee(record: Record, context: Context) -> str | None:
    """Return the fee in wei, also of failed transactions; None in a list of another address."""
    if context.own is not None and record["fromAddress"] != context.own:
        return None
    return str(record["fee"])


def _fee_part(name: str) -> Callable[[Record, Context], Cell]:
    """Return the cell of a part of the fee, empty where there is no fee or no such part."""

    def cell(record: Record, context: Context) -> Cell:
        return wei(record.get("feeParts", {}).get(name)) if _fee(record, context) else None

    return cell


def _transferred(record: Record, _: Context) -> str:
    """Return the amount of coins that the transaction transferred: 0 if it failed."""
    return amount(record["value"], COIN_DECIMALS) if record["status"] else "0"


def _change(record: Record, _: Context) -> str:
    """Return the change of the address's balance, with its sign."""
    if record["direction"] == "self":
        return "0"
    return ("-" if record["direction"] == "out" else "") + str(record["amountDecimal"])


def _token_amount(key: str, token: str) -> Callable[[Record, Context], Cell]:
    """Return the cell of a token's amount, empty where its decimals are not known."""

    def cell(record: Record, _: Context) -> Cell:
        decimals = record[f"{token}Decimals"]
        return None if decimals is None else amount(record[key], decimals)

    return cell


def _trade_side(side: str, token: str, amount_key: str) -> tuple[Column, ...]:
    return (
        Column(f"amount_{side}", _token_amount(amount_key, token)),
        Column(f"symbol_{side}", lambda record, _: text(record[f"{token}Symbol"] or "")),
        Column(f"units_{side}", lambda record, _: units(record[amount_key])),
        _field(f"token_{side}", token),
    )


def _topic(n: int) -> Column:
    return Column(
        f"topic{n}", lambda record, _: record["topics"][n] if n < len(record["topics"]) else None
    )


_TIME = (
    _field("time_utc", "timestamp"),
    Column("date_time", lambda record, _: date_time(record["timestamp"])),
    _field("block", "blockNumber"),
)
_PARTIES = (
    Column("direction", _direction, of_own=True),
    _field("from", "fromAddress"),
    _field("to", "toAddress"),
)
_YES_NO = {True: "yes", False: "no", None: ""}
_COIN = Column("symbol", lambda _, context: text(context.coin))
# Each record has the symbol and decimals of its own token.
_BALANCE = (
    Column("amount", lambda record, _: amount(record["balance"], record.get("decimals", 0))),
    Column("symbol", lambda record, _: text(record["symbol"])),
    Column("name", lambda record, _: text(record["name"])),
    Column("units", lambda record, _: units(record["balance"])),
    _field("token", "tokenAddress"),
    _token_type("type"),
)
_TOKEN_ID = Column("token_id", lambda record, _: token_id(record["tokenId"]))

COLUMNS: Mapping[str, tuple[Column, ...]] = {
    "blobs": (
        *_TIME,
        _field("versioned_hash", "versionedHash"),
        _field("transaction", "transactionHash"),
        _field("blob_index", "blobIndex"),
        *_PARTIES[1:],
    ),
    "contractCreations": (
        *_TIME,
        _field("contract", "address"),
        *(_field("creator"), _field("factory"), _field("transaction", "transactionHash")),
        *(_name("label"), _name("token_name", "tokenName"), _name("token_symbol", "tokenSymbol")),
        _name("contract_name", "contractName"),
        Column("source_verified", lambda record, _: _YES_NO[record["verified"]]),
        Column("is_proxy", lambda record, _: _YES_NO[record["isProxy"]]),
    ),
    "requests": (
        *_TIME,
        _field("type"),
        _coins("amount", "amount"),
        _COIN,
        _wei("amount_wei", "amount"),
        *(_field("pubkey"), _field("address"), _field("target_pubkey", "targetPubkey")),
        _field("withdrawal_credentials", "withdrawalCredentials"),
        *(_field("signature"), _field("deposit_index", "depositIndex")),
        *(_field("transaction", "transactionHash"), _field("log_index", "logIndex")),
    ),
    "blocks": (
        *(_TIME[0], _TIME[1], _field("block", "number")),
        *(_field("hash"), _field("parent_hash", "parentHash"), _field("miner")),
        _field("transactions", "txCount"),
        *(_field("gas_used", "gasUsed"), _field("gas_limit", "gasLimit")),
        _wei("base_fee_wei", "baseFeePerGas"),
        _field("size"),
    ),
    "transactions": (
        *_TIME,
        _field("transaction", "hash"),
        Column("status", lambda record, _: "success" if record["status"] else "failed"),
        *_PARTIES,
        _field("contract_created", "contractAddress"),
        Column("amount", _transferred),
        _COIN,
        Column("fee", lambda record, context: coins(_fee(record, context))),
        _wei("value_wei", "value"),
        Column("fee_wei", lambda record, context: wei(_fee(record, context))),
        _field("gas_used", "gasUsed"),
        _wei("gas_price_wei", "gasPrice"),
        *(_field("nonce"), _field("method_id", "methodId"), _field("type")),
        Column("l1_fee_wei", _fee_part("l1")),
        Column("operator_fee_wei", _fee_part("operator")),
        Column("mint_wei", lambda record, _: wei(record.get("mint"))),
    ),
    "transfers": (
        *_TIME,
        _field("transaction", "transactionHash"),
        *(_field("log_index", "logIndex"), _field("batch_index", "batchIndex")),
        *_PARTIES,
        Column("amount", _token_amount("value", "token")),
        _name("symbol", "tokenSymbol"),
        Column("units", lambda record, _: units(record["value"])),
        _field("token", "tokenAddress"),
        _token_type("tokenType"),
        _TOKEN_ID,
    ),
    "internalTransfers": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("transfer_index", "transferIndex"),
        _field("type"),
        *_PARTIES,
        _coins("amount", "value"),
        _COIN,
        _wei("value_wei", "value"),
    ),
    "authorizations": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("authorization_index", "authorizationIndex"),
        *(_field("authority"), _field("delegate")),
        Column("chain_id", lambda record, _: token_id(record["chainId"])),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        *(_field("valid"), _field("invalid_reason", "invalidReason")),
        _field("until_block", "untilBlock"),
    ),
    "messages": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("log_index", "logIndex"),
        _field("hash"),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        *(_field("sender"), _field("target")),
        _coins("amount", "value"),
        _COIN,
        _wei("value_wei", "value"),
        *(_field("gas_limit", "gasLimit"), _field("data"), _field("state")),
    ),
    "trades": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("log_index", "logIndex"),
        Column("dex", lambda record, _: text(record["dex"])),
        _field("pool", "pairAddress"),
        _field("maker"),
        *_trade_side("in", "tokenIn", "amountIn"),
        *_trade_side("out", "tokenOut", "amountOut"),
        Column("backed_by_transfers", lambda r, _: _YES_NO[r["backedByTransfers"]]),
    ),
    "userOperations": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("log_index", "logIndex"),
        _field("hash"),
        _field("entry_point", "entryPoint"),
        *(_field("sender"), _field("paymaster"), _field("bundler")),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        Column("success", lambda record, _: _YES_NO[record["success"]]),
        _coins("fee", "fee"),
        _COIN,
        _wei("fee_wei", "fee"),
        _field("gas_used", "gasUsed"),
        _field("factory"),
    ),
    "logs": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("transaction_index", "transactionIndex"),
        _field("log_index", "logIndex"),
        _field("address"),
        *(_topic(n) for n in range(MAX_TOPICS)),
        _field("data"),
    ),
    "holders": (
        _field("address"),
        Column(
            "amount",
            lambda record, context: amount(record["balance"], context.token["decimals"]),
        ),
        Column("symbol", lambda _, context: text(context.token["symbol"])),
        Column("units", lambda record, _: units(record["balance"])),
    ),
    "history": (
        *_TIME,
        *(_field("type"), _field("direction")),
        Column("change", _change),
        _field("amount", "amountDecimal"),
        Column("symbol", lambda record, _: text(record["symbol"])),
        Column("units", lambda r, _: (units if r["tokenAddress"] else wei)(r["amount"])),
        _field("counterparty"),
        _field("token", "tokenAddress"),
        _token_type("tokenType"),
        _TOKEN_ID,
        _field("transaction", "transactionHash"),
        _field("transaction_index", "transactionIndex"),
        _field("log_index", "logIndex"),
        _field("method_id", "methodId"),
    ),
    "historyEntries": (
        *_TIME,
        _field("transaction", "transactionHash"),
        _field("method_id", "methodId"),
        Column("in", lambda record, _: assets(record["rows"], "in")),
        Column("out", lambda record, _: assets(record["rows"], "out")),
        Column("self", lambda record, _: assets(record["rows"], "self")),
        Column("fee", lambda record, _: fee(record["rows"])),
        _coins("coin_change", "coinChange"),
        _COIN,
        Column("counterparties", lambda record, _: counterparties(record["rows"])),
        Column("rows", lambda record, _: len(record["rows"])),
        Column("has_more", lambda record, _: _YES_NO[record["hasMore"]]),
    ),
    "pools": (
        _field("pool", "address"),
        Column("dex", lambda record, _: text(record["dex"])),
        _field("token0"),
        Column("symbol0", lambda record, _: text(record["token0Symbol"] or "")),
        _field("token1"),
        Column("symbol1", lambda record, _: text(record["token1Symbol"] or "")),
        _field("trades", "tradeCount"),
        _field("last_trade", "lastTradeHash"),
        _field("last_trade_utc", "lastTradeAt"),
    ),
    "accounts": (
        _field("address"),
        _coins("balance", "balance"),
        _COIN,
        _wei("balance_wei", "balance"),
        _field("balance_block", "balanceBlock"),
        _field("transactions", "txCount"),
        Column("is_contract", lambda record, _: _YES_NO[record["isContract"]]),
    ),
    "contracts": (
        _field("contract", "address"),
        Column("name", lambda record, _: text(record["contractName"])),
        _field("compiler", "compilerVersion"),
        _field("match"),
        Column("license", lambda record, _: text(record["license"] or "")),
        _field("verified_utc", "verifiedAt"),
    ),
    "tokens": (
        _field("token", "address"),
        Column("symbol", lambda record, _: text(record["symbol"])),
        Column("name", lambda record, _: text(record["name"])),
        _token_type("type"),
        _field("decimals"),
        Column("total_supply", lambda r, _: amount(r["totalSupply"], r["decimals"])),
        Column("total_supply_units", lambda record, _: units(record["totalSupply"])),
        _field("holders", "holderCount"),
        _field("first_seen_utc", "firstSeen"),
        Column("verified", lambda record, _: _YES_NO[record["verified"]]),
        Column("larger_namesake", lambda record, _: record["largerNamesake"] or ""),
    ),
    "days": (
        _field("date"),
        *(
            _field(name, key)
            for name, key in (
                *(("blocks", "blocks"), ("transactions", "transactions")),
                *(("failed_transactions", "failedTransactions"),),
                *(("active_addresses", "activeAddresses"), ("new_addresses", "newAddresses")),
                *(("contracts_created", "contractsCreated"), ("token_transfers", "tokenTransfers")),
                *(("dex_trades", "dexTrades"), ("gas_used", "gasUsed")),
            )
        ),
        _coins("fees", "fees"),
        _coins("burnt_fees", "burntFees"),
        _wei("fees_wei", "fees"),
        _wei("burnt_fees_wei", "burntFees"),
    ),
    "tokenBalances": _BALANCE,
    "itemBalances": (*_BALANCE, _TOKEN_ID),
    "items": (
        _field("token", "tokenAddress"),
        _TOKEN_ID,
        _token_type("tokenType"),
        _field("owner"),
        _field("owners", "ownerCount"),
        _field("transfers", "transferCount"),
    ),
}  # fmt: skip


def csv_text(kind: str, records: Sequence[Record]) -> bytes:
    """Return a short list as a CSV file; its cells need no context."""
    shown, context = columns(kind, None), Context(None, "", {})
    rows = [[column.cell(record, context) for column in shown] for record in records]
    return BYTE_ORDER_MARK + lines([[column.name for column in shown], *rows])


def columns(kind: str, own: str | None) -> Sequence[Column]:
    """Return the columns of a list; `own` is the address in its path, if it has one."""
    return [column for column in COLUMNS[kind] if own is not None or not column.of_own]
