"""FastAPI with asyncpg, orjson, uvloop and httptools, running Scan's own statements.

By its documentation's advice: async endpoints, a pool made in the lifespan, parameters declared and
checked by type, bodies as pydantic models, orjson for what Python serialises. asyncpg prepares each
statement once per connection. No rate limit, no CORS headers, no cached responses.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Literal

import asyncpg
import orjson
from fastapi import FastAPI, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from bench.rivals.numbered_statements import SESSION, NumberedStatements
from scan import VERSION

CONNECTIONS = 8
BIGINT_MAX = 2**63 - 1
STATEMENTS = NumberedStatements()

ADDRESS = r"^0[xX][0-9a-fA-F]{40}$"
Address = Annotated[str, Path(pattern=ADDRESS)]
OptionalAddress = Annotated[str | None, Query(pattern=ADDRESS)]
KeyAddress = Annotated[str | None, Field(pattern=ADDRESS)]
Page = Annotated[int, Query(ge=1)]
Limit = Annotated[int, Query(ge=1, le=100)]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with asyncpg.create_pool(
        os.environ["DATABASE_URL"],
        min_size=CONNECTIONS,
        max_size=CONNECTIONS,
        server_settings=SESSION,
    ) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=_lifespan)


async def _row(request: Request, name: str, **params: object) -> Any:
    text, names = STATEMENTS.find(name, params)
    row = await request.app.state.pool.fetchrow(text, *(params[name] for name in names))
    if row[1] is None:
        raise HTTPException(404, "not found")
    return row[1:]  # without the index's version


def _json(body: str | bytes) -> Response:
    return Response(body, media_type="application/json")


def _window(limit: int, offset: int, **more: object) -> dict[str, object]:
    whole = {"direction": "desc", "block_from": 0, "block_to": BIGINT_MAX}
    cursors = ("after", "after_count", "after_address", "seen_block")  # are not measured here
    whole |= dict.fromkeys(cursors)
    return whole | {"limit": limit, "offset": offset} | more


def _bytes(address: str | None) -> bytes | None:
    return None if address is None else bytes.fromhex(address[2:])


@app.get("/api/v1/stats")
async def stats(request: Request) -> Response:
    row = await _row(request, "queries/network_get_stats", version=VERSION, chain_name=None)
    return _json(row[0])


@app.get("/api/v1/blocks")
async def blocks(request: Request, page: Page = 1, limit: Limit = 25) -> Response:
    row = await _row(request, "queries/blocks_list", **_window(limit, (page - 1) * limit))
    return _json(f'{{"blocks":{row[0]},"total":{row[2]}}}')


@app.get("/api/v1/blocks/{number}")
async def block(request: Request, number: int) -> Response:
    named = {"number": number, "hash": None, "has_number": True, "has_hash": False}
    return _json((await _row(request, "queries/blocks_get", **named))[0])


@app.get("/api/v1/transactions")
async def transactions(
    request: Request, page: Page = 1, limit: Limit = 25, address: OptionalAddress = None
) -> Response:
    window = _window(limit, (page - 1) * limit)
    row = await _filtered(request, "transactions", {"address": _bytes(address)}, window)
    return _json(f'{{"transactions":{row[0]},"total":{row[2]}}}')


@app.get("/api/v1/transactions/{hash_}")
async def transaction(
    request: Request, hash_: Annotated[str, Path(pattern="^0[xX][0-9a-fA-F]{64}$")]
) -> Response:
    return _json((await _row(request, "queries/transactions_get", hash=_bytes(hash_)))[0])


@app.get("/api/v1/tokens")
async def tokens(request: Request, page: Page = 1, limit: Limit = 25) -> Response:
    row = await _row(request, "queries/tokens_list", **_window(limit, (page - 1) * limit))
    return _json(f'{{"tokens":{row[0]},"total":{row[2]}}}')


@app.get("/api/v1/tokens/{address}")
async def token(request: Request, address: Address) -> Response:
    return _json((await _row(request, "queries/tokens_get", address=_bytes(address)))[0])


@app.get("/api/v1/addresses/{address}")
async def address_detail(request: Request, address: Address) -> Response:
    named = {"address": _bytes(address), "state_block": BIGINT_MAX}
    row = await _row(request, "queries/addresses_get", **named)
    count, label, first_seen, last_seen, recent = row[:5]
    balance, balance_block, is_contract = row[7:10]
    detail = {
        "address": address.lower(),
        "balance": balance,
        "txCount": count,
        "isContract": is_contract,
        "label": label,
        "firstSeen": first_seen,
        "lastSeen": last_seen,
        "balanceBlock": balance_block,
        "recentTxs": orjson.Fragment(recent),
    }
    return _json(orjson.dumps(detail))


class Filter(BaseModel):
    model_config = ConfigDict(extra="forbid")

    address: KeyAddress = None
    sender: KeyAddress = Field(None, alias="from")
    to: KeyAddress = None
    tokenAddress: KeyAddress = None
    dex: str | None = Field(None, max_length=100)
    blockNumber: int | None = Field(None, ge=0)
    blockFrom: int = Field(0, ge=0)
    blockTo: int = Field(BIGINT_MAX, ge=0)


class QueryBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    entity: Literal["transactions", "blocks", "tokens", "token_transfers", "dex_trades"]
    filter: Filter = Filter()
    orderBy: Literal["asc", "desc"] = "desc"
    limit: int = Field(25, ge=1, le=100)
    offset: int = Field(0, ge=0)


@app.post("/api/v1/query")
async def query(request: Request, body: QueryBody) -> Response:
    asked = body.filter
    window = _window(
        body.limit,
        body.offset,
        direction=body.orderBy,
        block_from=asked.blockFrom if asked.blockNumber is None else asked.blockNumber,
        block_to=asked.blockTo if asked.blockNumber is None else asked.blockNumber,
    )
    if body.entity in ("blocks", "tokens"):
        row = await _row(request, f"queries/{body.entity}_list", **window)
    else:
        filters = _filters(body.entity, asked)
        row = await _filtered(request, body.entity, filters, window)
    return _json(f'{{"entity":"{body.entity}","count":{row[1]},"data":{row[0]},"total":{row[2]}}}')


def _filters(entity: str, body_filter: Filter) -> dict[str, bytes | str | None]:
    if entity == "dex_trades":
        return {"maker": _bytes(body_filter.address), "dex": body_filter.dex}
    filters = {"address": body_filter.address, "from": body_filter.sender, "to": body_filter.to}
    if entity == "token_transfers":
        filters["token"] = body_filter.tokenAddress
    return {name: _bytes(value) for name, value in filters.items()}


async def _filtered(
    request: Request, entity: str, filters: dict[str, Any], window: dict[str, Any]
) -> Any:
    """By the same statement and list as the service's; several keys at once it does not serve."""
    if entity != "dex_trades":
        window = {**window, "form": "api"}
    given = [(name, key) for name, key in filters.items() if key is not None]
    if not given:
        return await _row(request, f"queries/{entity}_list", **window)
    [(name, key)] = given
    window |= {
        "has_lower": window["block_from"] > 0,
        "has_upper": window["block_to"] < BIGINT_MAX,
        "key": key.encode() if isinstance(key, str) else key,
    }
    return await _row(request, f"queries/{entity}_by_{name}_list", **window)
