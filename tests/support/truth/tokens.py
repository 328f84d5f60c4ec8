"""Tokens by their transfers: types, names, holders and totals."""

import unicodedata
from collections import Counter
from unittest.mock import ANY

from eth_abi import decode
from eth_abi.exceptions import DecodingError

from tests.support.truth.reading import ZERO
from tests.support.truth.token_moves import WRAPPING, moves_in, wrappers_in

NOBODY = "0x" + 40 * "9"  # whom no event names


class Tokens:
    """The transfers of a chain, and what the tokens in them are."""

    def __init__(self, chain):
        self.chain = chain
        self.types = {}
        self.first_seen = {}

    def transfers(self):
        wrappers = wrappers_in(self.chain)
        read = [
            move
            for move in moves_in(self.chain, self.chain.logs)
            if move.shape not in WRAPPING
            or move.log.block >= wrappers.get(move.log.address, 1 + move.log.block)
        ]
        records = []
        for move in read:
            token = move.log.address
            if token not in self.types and move.parts:
                self.types[token] = self.type_of(move)
                self.first_seen[token] = move.log.block
            records += self.transfer_records(move)
        return records

    def type_of(self, move):
        claimed = self.claimed_type(move.log)
        if claimed:
            return claimed
        if move.shape in ("erc20", *WRAPPING):
            return "BEP20"
        if move.shape == "erc1155":
            return "BEP1155"

        def answers(signature, *args):
            answer = self.chain.call(move.log.address, signature, args, move.log.block)
            return len(answer or b"") >= 32

        has_owners = move.shape == "erc721" and (
            answers("ownerOf(uint256)", 1)
            or answers("isApprovedForAll(address,address)", ZERO, ZERO)
        )
        return "BEP20" if answers("decimals()") and not has_owners else "BEP721"

    def claimed_type(self, log):
        """What ERC-165 says, when it says one thing and says it credibly."""

        def claims(interface):
            answer = self.chain.call(
                log.address, "supportsInterface(bytes4)", (bytes.fromhex(interface),), log.block
            )
            return answer is not None and answer[:32] == bytes(31) + b"\x01"

        if not claims("01ffc9a7") or claims("ffffffff"):
            return None
        is_721, is_1155 = claims("80ac58cd"), claims("d9b67a26")
        if is_721 == is_1155:
            return None
        return "BEP721" if is_721 else "BEP1155"

    def transfer_records(self, move):
        token_type = self.types.get(move.log.address)
        return [
            {
                "transactionHash": move.log.transaction_hash,
                "blockNumber": move.log.block,
                "logIndex": move.log.number,
                "batchIndex": n,
                "tokenAddress": move.log.address,
                "tokenType": token_type,
                "fromAddress": move.sender,
                "toAddress": move.recipient,
                **amount_of(token_type, token_id, value),
                "timestamp": self.chain.timestamps[move.log.block],
                "tokenSymbol": self.symbol(move.log.address),
                "tokenDecimals": self.decimals(move.log.address),
                "initiatedBy": self.chain.receipts[move.log.transaction_hash]["from"].lower(),
                "unproven": ["tokenType", "tokenSymbol", "tokenDecimals"],
            }
            for n, (token_id, value) in enumerate(move.parts)
            if (token_type == "BEP1155") == (move.shape == "erc1155")
        ]

    def symbol(self, token):
        """None for a contract that no token was ever moved of."""
        if token not in self.first_seen:
            return None
        return text_of(self.chain.call(token, "symbol()", (), self.first_seen[token]), 50)

    def decimals(self, token):
        if token not in self.first_seen:
            return None
        decimals = first_word(self.chain.call(token, "decimals()", (), self.first_seen[token]))
        return decimals if decimals <= 255 else None

    def record(self, token, holders, contract, read):
        seen = self.first_seen[token]
        supply = self.chain.call(token, "totalSupply()", (), self.chain.head)
        total = first_word(supply)
        if self.types[token] != "BEP20" and (supply is None or len(supply) < 32):
            total = sum(holders.get(token, {}).values())
        return {
            "address": token,
            "name": text_of(self.chain.call(token, "name()", (), seen), 255),
            "symbol": self.symbol(token),
            "decimals": self.decimals(token),
            "type": self.types[token],
            "totalSupply": str(total),
            "holderCount": 0
            if token in read and self.balance(token, NOBODY)
            else sum(
                bool(read[token].get(holder)) if token in read else True
                for holder, amount in holders.get(token, {}).items()
                if amount > 0
            ),
            "firstSeen": contract["firstSeen"],
            "unproven": ["name", "symbol", "decimals", "type", "totalSupply"],
        }

    def is_bare(self, token):
        """Whether it has no function of a token, so that nobody holds what its events say."""
        calls = [(f"{name}()", ()) for name in ("name", "symbol", "decimals", "totalSupply")]
        calls += ("balanceOf(address)", (ZERO,)), ("ownerOf(uint256)", (1,))
        calls.append(("supportsInterface(bytes4)", (bytes.fromhex("01ffc9a7"),)))
        seen = self.first_seen[token]
        return not any(self.chain.call(token, *call, seen) for call in calls)

    def details(self, transfers, read):
        return {
            token: {
                "transferCount": len(records),
                "readBlock": ANY,  # one after which it answered so
                "eventsConsistent": token not in read,
                "itemCount": None
                if self.types[token] == "BEP20"
                else len({transfer["tokenId"] for transfer in records} - {None}),
            }
            for token, records in self.by_token(transfers).items()
        }

    def by_token(self, transfers):
        by_token = {token: [] for token in self.types}
        for transfer in transfers:
            by_token[transfer["tokenAddress"]].append(transfer)
        return by_token

    def holders(self, transfers):
        """Who holds how much by the events, the ids of a token summed; zero holds nothing."""
        return {
            token: {h: n for h, n in balances_of(records).items() if n > 0 and h != ZERO}
            for token, records in self.by_token(transfers).items()
        }

    def read(self, transfers):
        """Of each token whose events do not add up what it answers for holders that they name, and
        for itself; nothing where it does not answer."""
        read = {}
        for token, records in self.by_token(transfers).items():
            if self.is_bare(token):
                continue
            sums = {h: n for h, n in balances_of(records).items() if n and h != ZERO}
            answers = {h: self.balance(token, h) for h in {*sums, token}}
            if not self.adds_up(sums, answers):
                read[token] = {h: n for h, n in answers.items() if n is not None}
        return read

    def adds_up(self, sums, answers):
        answered = [h for h in sums if answers[h] is not None]
        return min(sums.values(), default=0) >= 0 and all(answers[h] == sums[h] for h in answered)

    def balance(self, token, holder):
        answer = self.chain.call(token, "balanceOf(address)", (holder,), self.chain.head)
        return first_word(answer) if answer and len(answer) >= 32 else None


def amount_of(token_type, token_id, value):
    """What the words of an event mean is the type's to say, whatever event it was."""
    if token_type == "BEP721":
        return {"value": "1", "tokenId": str(token_id)}
    if token_type == "BEP1155":
        return {"value": str(value), "tokenId": str(token_id)}
    return {"value": str(value), "tokenId": None}


def balances_of(transfers):
    """What one token's transfers leave to whom, also less than nothing."""
    balances = Counter()
    for t in transfers:
        balances[t["fromAddress"]] -= int(t["value"])
        balances[t["toAddress"]] += int(t["value"])
    return balances


def text_of(answer, most):
    """A name as shown: a string, or bytes32 of old, without what a page could not show."""
    if answer is None:
        return ""
    try:
        raw = answer.split(b"\0")[0] if len(answer) == 32 else decode(["bytes"], answer)[0]
    except (DecodingError, OverflowError):
        return ""
    text = raw.decode("utf-8", errors="replace")
    return "".join(c for c in text if unicodedata.category(c) != "Cc")[:most]


def first_word(answer):
    """A number answered, or 0 where there was none."""
    return int.from_bytes(answer[:32], "big") if answer and len(answer) >= 32 else 0
