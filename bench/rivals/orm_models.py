"""The models of orm_app.py: Scan's tables, as far as the compared endpoints read them."""

from datetime import datetime
from decimal import Decimal

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import ForeignKey
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship


class Base(DeclarativeBase):
    pass


db = SQLAlchemy(model_class=Base)


class Chain(db.Model):  # type: ignore[name-defined]
    __tablename__ = "chain"
    chain_id: Mapped[int] = mapped_column(primary_key=True)


class Block(db.Model):  # type: ignore[name-defined]
    __tablename__ = "blocks"
    number: Mapped[int] = mapped_column(primary_key=True)
    timestamp: Mapped[datetime]
    transactions_before: Mapped[int]
    transaction_count: Mapped[int]
    hash: Mapped[bytes]
    parent_hash: Mapped[bytes]
    miner: Mapped[bytes]
    gas_used: Mapped[Decimal]
    gas_limit: Mapped[Decimal]


class Transaction(db.Model):  # type: ignore[name-defined]
    __tablename__ = "transactions"
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    block_number: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    transaction_index: Mapped[int]
    status: Mapped[bool]
    hash: Mapped[bytes]
    from_address: Mapped[bytes]
    to_address: Mapped[bytes | None]
    contract_address: Mapped[bytes | None]
    value: Mapped[Decimal]
    gas_price: Mapped[Decimal]
    gas_used: Mapped[Decimal]
    block: Mapped[Block] = relationship()


class Token(db.Model):  # type: ignore[name-defined]
    __tablename__ = "tokens"
    address: Mapped[bytes] = mapped_column(primary_key=True)
    type: Mapped[str]
    name: Mapped[str]
    symbol: Mapped[str]
    decimals: Mapped[int]
    total_supply: Mapped[Decimal]
    holder_count: Mapped[int]
    transfer_count: Mapped[int]
    negative_holder_count: Mapped[int]
    block_number: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    block: Mapped[Block] = relationship()


class TokenTransfer(db.Model):  # type: ignore[name-defined]
    __tablename__ = "token_transfers"
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    block_number: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    log_index: Mapped[int]
    batch_index: Mapped[int | None]
    transaction_index: Mapped[int]
    token_address: Mapped[bytes] = mapped_column(ForeignKey("tokens.address"))
    from_address: Mapped[bytes]
    to_address: Mapped[bytes]
    value: Mapped[Decimal]
    token_id: Mapped[Decimal | None]
    block: Mapped[Block] = relationship()
    token: Mapped[Token] = relationship()
    transaction: Mapped[Transaction] = relationship(
        primaryjoin=lambda: (
            (TokenTransfer.block_number == Transaction.block_number)
            & (TokenTransfer.transaction_index == Transaction.transaction_index)
        ),
        foreign_keys=lambda: [TokenTransfer.block_number, TokenTransfer.transaction_index],
        viewonly=True,
    )


class Dex(db.Model):  # type: ignore[name-defined]
    __tablename__ = "dexes"
    dex_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]


class DexTrade(db.Model):  # type: ignore[name-defined]
    __tablename__ = "dex_trades"
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    block_number: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    log_index: Mapped[int]
    transaction_index: Mapped[int]
    dex_id: Mapped[int] = mapped_column(ForeignKey("dexes.dex_id"))
    pool_address: Mapped[bytes]
    maker: Mapped[bytes]
    token_in: Mapped[bytes]
    token_out: Mapped[bytes]
    amount_in: Mapped[Decimal]
    amount_out: Mapped[Decimal]
    block: Mapped[Block] = relationship()
    dex: Mapped[Dex] = relationship()
    transaction: Mapped[Transaction] = relationship(
        primaryjoin=lambda: (
            (DexTrade.block_number == Transaction.block_number)
            & (DexTrade.transaction_index == Transaction.transaction_index)
        ),
        foreign_keys=lambda: [DexTrade.block_number, DexTrade.transaction_index],
        viewonly=True,
    )


class Label(db.Model):  # type: ignore[name-defined]
    __tablename__ = "labels"
    address: Mapped[bytes] = mapped_column(primary_key=True)
    label: Mapped[str]


class Address(db.Model):  # type: ignore[name-defined]
    __tablename__ = "addresses"
    address: Mapped[bytes] = mapped_column(primary_key=True)
    first_seen: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    last_seen: Mapped[int] = mapped_column(ForeignKey("blocks.number"))
    balance: Mapped[Decimal | None]
    first_block: Mapped[Block] = relationship(foreign_keys=[first_seen])
    last_block: Mapped[Block] = relationship(foreign_keys=[last_seen])
