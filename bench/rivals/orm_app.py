"""Flask with Flask-SQLAlchemy on the same tables: count(*), OFFSET, and Python that makes the JSON.

What most would write, by the documentation's advice: declarative models, `db.paginate`, eager
joined loading against the N+1 problem, `db.session.get` for a primary key, a pool of as many
connections as threads. /query has no total in its answer, so nothing is counted for it.
"""

import os
from datetime import datetime
from typing import Any

from flask import Flask, Response, abort, jsonify, request
from sqlalchemy import func, or_, select
from sqlalchemy.orm import contains_eager, joinedload

from bench.rivals.orm_models import (
    Address,
    Block,
    Chain,
    Dex,
    DexTrade,
    Label,
    Token,
    TokenTransfer,
    Transaction,
    db,
)
from scan import VERSION

PER_PAGE = 25
NEWEST = 100


def create_app() -> Flask:
    app = Flask(__name__, static_folder=None)
    app.config["SQLALCHEMY_DATABASE_URI"] = os.environ["DATABASE_URL"]
    app.config["SQLALCHEMY_ENGINE_OPTIONS"] = {"pool_size": 8, "max_overflow": 0}
    app.json.sort_keys = False  # type: ignore[attr-defined]
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    db.init_app(app)
    prefix = "/api/v1"
    app.add_url_rule(f"{prefix}/stats", view_func=stats)
    app.add_url_rule(f"{prefix}/blocks", view_func=list_blocks)
    app.add_url_rule(f"{prefix}/blocks/<int:number>", view_func=get_block)
    app.add_url_rule(f"{prefix}/transactions", view_func=list_transactions)
    app.add_url_rule(f"{prefix}/transactions/<hash_>", view_func=get_transaction)
    app.add_url_rule(f"{prefix}/tokens", view_func=list_tokens)
    app.add_url_rule(f"{prefix}/tokens/<address>", view_func=get_token)
    app.add_url_rule(f"{prefix}/addresses/<address>", view_func=get_address)
    app.add_url_rule(f"{prefix}/query", view_func=query, methods=["POST"])
    return app


def _hex(value: bytes | None) -> str | None:
    return None if value is None else "0x" + bytes(value).hex()


def _iso(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")


def _key(text: str) -> bytes:
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        abort(400)


def block_json(b: Block) -> dict[str, Any]:
    return {
        "number": b.number,
        "hash": _hex(b.hash),
        "timestamp": _iso(b.timestamp),
        "miner": _hex(b.miner),
        "txCount": b.transaction_count,
        "gasUsed": str(b.gas_used),
        "gasLimit": str(b.gas_limit),
        "parentHash": _hex(b.parent_hash),
    }


def transaction_json(t: Transaction) -> dict[str, Any]:
    return {
        "hash": _hex(t.hash),
        "blockNumber": t.block_number,
        "fromAddress": _hex(t.from_address),
        "toAddress": _hex(t.to_address),
        "value": str(t.value),
        "gasPrice": str(t.gas_price),
        "gasUsed": str(t.gas_used),
        "status": t.status,
        "timestamp": _iso(t.block.timestamp),
        "transactionIndex": t.transaction_index,
        "contractAddress": _hex(t.contract_address),
    }


def token_json(k: Token) -> dict[str, Any]:
    return {
        "address": _hex(k.address),
        "name": k.name,
        "symbol": k.symbol,
        "decimals": k.decimals,
        "type": k.type,
        "totalSupply": str(k.total_supply),
        "holderCount": k.holder_count,
    }


def transfer_json(x: TokenTransfer) -> dict[str, Any]:
    return {
        "transactionHash": _hex(x.transaction.hash),
        "blockNumber": x.block_number,
        "logIndex": x.log_index,
        "batchIndex": x.batch_index or 0,
        "tokenAddress": _hex(x.token_address),
        "tokenType": x.token.type,
        "fromAddress": _hex(x.from_address),
        "toAddress": _hex(x.to_address),
        "value": str(x.value),
        "tokenId": None if x.token_id is None else str(x.token_id),
        "timestamp": _iso(x.block.timestamp),
    }


def trade_json(d: DexTrade) -> dict[str, Any]:
    return {
        "transactionHash": _hex(d.transaction.hash),
        "blockNumber": d.block_number,
        "logIndex": d.log_index,
        "dex": d.dex.name,
        "pairAddress": _hex(d.pool_address),
        "maker": _hex(d.maker),
        "tokenIn": _hex(d.token_in),
        "tokenOut": _hex(d.token_out),
        "amountIn": str(d.amount_in),
        "amountOut": str(d.amount_out),
        "timestamp": _iso(d.block.timestamp),
    }


def _transactions(address: bytes | None = None) -> Any:
    statement = select(Transaction).options(joinedload(Transaction.block, innerjoin=True))
    if address is not None:
        statement = statement.where(
            or_(Transaction.from_address == address, Transaction.to_address == address)
        )
    return statement.order_by(Transaction.ordinal.desc())


def _page(name: str, statement: Any, record: Any) -> Response:
    page = db.paginate(statement, per_page=PER_PAGE, max_per_page=100, error_out=False)
    return jsonify({name: [record(row) for row in page.items], "total": page.total})


def stats() -> Response:
    newest = select(func.max(Block.number)).scalar_subquery()
    price = select(func.avg(Transaction.gas_price)).where(
        Transaction.block_number > newest - NEWEST
    )
    return jsonify(
        {
            "latestBlock": db.session.scalar(select(func.max(Block.number))),
            "totalTransactions": db.session.scalar(select(func.count()).select_from(Transaction)),
            "totalTokens": db.session.scalar(select(func.count()).select_from(Token)),
            "avgGasPrice": str(int(db.session.scalar(price) or 0)),
            "chainId": int(db.session.scalar(select(Chain.chain_id)) or 0),
            "version": VERSION,
        }
    )


def list_blocks() -> Response:
    return _page("blocks", select(Block).order_by(Block.number.desc()), block_json)


def get_block(number: int) -> Response:
    return jsonify(block_json(db.get_or_404(Block, number)))


def list_transactions() -> Response:
    address = request.args.get("address")
    statement = _transactions(None if address is None else _key(address))
    return _page("transactions", statement, transaction_json)


def get_transaction(hash_: str) -> Response:
    statement = _transactions().where(Transaction.hash == _key(hash_))
    return jsonify(transaction_json(db.first_or_404(statement)))


def list_tokens() -> Response:
    by_holders = select(Token).order_by(Token.holder_count.desc(), Token.address.desc())
    return _page("tokens", by_holders, token_json)


def get_token(address: str) -> Response:
    token = db.get_or_404(Token, _key(address), options=[joinedload(Token.block, innerjoin=True)])
    more = {
        "transferCount": token.transfer_count,
        "firstSeen": _iso(token.block.timestamp),
        "eventsConsistent": token.negative_holder_count == 0,
    }
    return jsonify(token_json(token) | more)


def get_address(address: str) -> Response:
    key = _key(address)
    eager = [joinedload(Address.first_block), joinedload(Address.last_block)]
    record = db.get_or_404(Address, key, options=eager)
    mine = or_(Transaction.from_address == key, Transaction.to_address == key)
    count = db.session.scalar(select(func.count()).select_from(Transaction).where(mine))
    recent = db.session.scalars(_transactions(key).limit(PER_PAGE))
    label = db.session.get(Label, key)
    return jsonify(
        {
            "address": _hex(key),
            "balance": str(record.balance or 0),
            "txCount": count,
            "isContract": False,
            "label": label and label.label,
            "firstSeen": _iso(record.first_block.timestamp),
            "lastSeen": _iso(record.last_block.timestamp),
            "recentTxs": [transaction_json(row) for row in recent],
        }
    )


def query() -> Response:
    body = request.get_json()
    keys = body.get("filter", {})
    statement, record = QUERIES[body["entity"]](keys)
    statement = statement.limit(body.get("limit", PER_PAGE)).offset(body.get("offset", 0))
    data = [record(row) for row in db.session.scalars(statement)]
    return jsonify({"entity": body["entity"], "count": len(data), "data": data})


def _query_transactions(keys: dict[str, Any]) -> tuple[Any, Any]:
    statement = _transactions(_key(keys["address"]) if "address" in keys else None)
    return _parties(statement, Transaction, keys), transaction_json


def _query_transfers(keys: dict[str, Any]) -> tuple[Any, Any]:
    x = TokenTransfer
    statement = _parties(_with_transaction(x).options(joinedload(x.token, innerjoin=True)), x, keys)
    if "address" in keys:
        key = _key(keys["address"])
        statement = statement.where(or_(x.from_address == key, x.to_address == key))
    if "tokenAddress" in keys:
        statement = statement.where(x.token_address == _key(keys["tokenAddress"]))
    return statement.order_by(x.ordinal.desc()), transfer_json


def _query_trades(keys: dict[str, Any]) -> tuple[Any, Any]:
    d = DexTrade
    statement = _with_transaction(d).options(joinedload(d.dex, innerjoin=True))
    if "address" in keys:
        statement = statement.where(d.maker == _key(keys["address"]))
    if "dex" in keys:
        statement = statement.where(d.dex.has(Dex.name == keys["dex"]))
    return statement.order_by(d.ordinal.desc()), trade_json


def _with_transaction(model: Any) -> Any:
    """Rows with their block and, by its ordinal, their transaction."""
    ordinal = Block.transactions_before + model.transaction_index
    return (
        select(model)
        .join(model.block)
        .join(Transaction, Transaction.ordinal == ordinal)
        .options(contains_eager(model.block), contains_eager(model.transaction))
    )


def _parties(statement: Any, model: Any, keys: dict[str, Any]) -> Any:
    if "from" in keys:
        statement = statement.where(model.from_address == _key(keys["from"]))
    if "to" in keys:
        statement = statement.where(model.to_address == _key(keys["to"]))
    return statement


QUERIES = {
    "transactions": _query_transactions,
    "blocks": lambda _: (select(Block).order_by(Block.number.desc()), block_json),
    "tokens": lambda _: (
        select(Token).order_by(Token.holder_count.desc(), Token.address.desc()),
        token_json,
    ),
    "token_transfers": _query_transfers,
    "dex_trades": _query_trades,
}
