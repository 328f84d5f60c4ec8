"""The summary of a transaction: a sentence with its addresses, tokens and amounts as own parts.

The table is summary_sentences.json. The sentence asserts only what indexed transfers, trades and
emitted events show. A transaction that fits no form is named by its method and contract.
"""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from scan.ethereum.text_cleaning import clean, text_start
from scan.extensions.explanations.transactions.summary_exchanges import (
    approvals_left,
    movements,
    provided,
    swapped,
)
from scan.extensions.explanations.transactions.summary_facts import (
    Facts,
    Flows,
    Recognised,
    Values,
    fits,
    topic_of,
    values_of,
    words_of,
)
from scan.extensions.explanations.transactions.summary_parts import (
    COIN,
    ZERO,
    Asset,
    Names,
    Part,
    address_part,
    asset_part,
    assets_parts,
    contract_part,
    in_quotes,
    merged,
    recipients_parts,
)
from scan.hex import to_hex
from scan.queries.transactions import creates_contract, outcome

FORMS = json.loads(Path(__file__).with_name("summary_sentences.json").read_text(encoding="utf-8"))
ACTIONS = sorted(
    {action for action, _ in FORMS["recognised"].values()}
    | {form["action"] for form in (*FORMS["events"], *FORMS["methods"])}
)
MAX_METHOD = 40
MAX_REASON = 200
MAX_MEMO = 80
DEPOSIT = topic_of("Deposit(address,uint256)")
WITHDRAWAL = topic_of("Withdrawal(address,uint256)")


class Summary(NamedTuple):
    action: str
    parts: Sequence[Part]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    def record(self) -> dict[str, Any]:
        parts = [part.record() for part in self.parts]
        return {"text": self.text, "action": self.action, "parts": parts}


def summarise(facts: Facts, names: Names) -> Summary:
    moved = [t for t in facts.transfers if names.may_be_token(t["tokenAddress"])]
    count = facts.transfer_count - len(facts.transfers) + len(moved)
    facts = facts._replace(transfers=moved, transfer_count=count)
    for rule in (_failed, _created, _without_call, swapped, provided, _wrapped, _moved):
        if (recognised := rule(facts, names)) is not None:
            return _recognised(facts, names, recognised)
    summary = _event_summary(facts, names) or _method_summary(facts, names)
    return summary or _recognised(facts, names, _called(facts, names))


def _recognised(facts: Facts, names: Names, recognised: Recognised) -> Summary:
    action, text = FORMS["recognised"][recognised.form]
    sentence = _filled(text, recognised.values)
    if recognised.form.startswith(("failed", "outcome-unknown")):
        return Summary(action, merged(sentence))
    stated = dict(recognised.stated)
    if not recognised.has_value:
        sentence += _with_coin(facts, names)
        stated[COIN] = stated.get(COIN, 0) + _stated_value(facts)
    return _ended(facts, names, action, sentence, stated)


def _ended(
    facts: Facts, names: Names, action: str, sentence: list[Part], stated: Mapping[Asset, int]
) -> Summary:
    """Return the summary whose sentence ends with what else the sender gave, got, and lets others
    spend."""
    end = [*movements(facts, names, stated), *approvals_left(facts, names)]
    return Summary(action, merged([*sentence, *end]))


def _stated_value(facts: Facts) -> int:
    """Return the net coin that a sentence states by naming the coin that the sender sent."""
    return 0 if facts.is_to_itself else -facts.value


def _filled(text: str, values: Values) -> list[Part]:
    """Fill a sentence's placeholders: every second piece of the split text is a placeholder's
    name."""
    parts: list[Part] = []
    for index, piece in enumerate(re.split(r"\{([^}]+)\}", text)):
        parts += values[piece] if index % 2 else [Part(piece)]
    return parts


def _with_coin(facts: Facts, names: Names) -> list[Part]:
    if not facts.value:
        return []
    return [Part(", sending "), asset_part(names, COIN, facts.value)]


def _failed(facts: Facts, names: Names) -> Recognised | None:
    succeeded = outcome(facts.transaction)
    if succeeded:
        return None
    if succeeded is None:
        return Recognised("outcome-unknown", {}, has_value=True)
    to = facts.transaction["toAddress"]
    if facts.error:
        text = clean(facts.error, MAX_REASON)
        reason = f"the contract reports {in_quotes(text)}" if facts.is_error_quoted else text
        if facts.failed_at:
            reason += f" at {facts.failed_at}"
        return Recognised("failed", {"reason": [Part(reason)]}, has_value=True)
    if to is None:
        is_creation = creates_contract(facts.transaction)
        return Recognised(
            f"failed-{'creation' if is_creation else 'without-recipient'}", {}, has_value=True
        )
    if facts.details.is_call:
        return Recognised("failed-call", _call_values(facts, names), has_value=True)
    sent = {"given": [_coin(facts, names)], "recipient": [address_part(names, to)]}
    return Recognised("failed-transfer", sent, has_value=True)


def _created(facts: Facts, names: Names) -> Recognised | None:
    if facts.transaction["toAddress"] is not None:
        return None
    if not creates_contract(facts.transaction):
        return Recognised("without-recipient", {})
    contract = facts.transaction["contractAddress"]
    parts = [contract_part(names, contract)] if contract else [Part("a contract")]
    if contract and parts[0].text.startswith("0x"):
        parts = [Part("contract "), *parts]
    # Nearly all tokens mint to their deployer, so these amounts are no news.
    got = {asset: v for asset, v in facts.flows().items() if v > 0 and asset != COIN}
    return Recognised("creation", {"contract": parts}, stated=got if facts.is_complete else {})


def _without_call(facts: Facts, names: Names) -> Recognised | None:
    """Recognise coin sent to somebody, or to a contract without naming a method."""
    if facts.details.is_call or facts.transfers or facts.trades:
        return None
    to = str(facts.transaction["toAddress"])
    values = {"given": [_coin(facts, names)], "recipient": [address_part(names, to)]}
    data = facts.details.input
    if data:
        values["bytes"] = [Part(f"{len(data):,}")]
        if text := text_start(data, MAX_MEMO):
            values["text"] = [Part(in_quotes(text), "text")]
    if facts.value and not data and facts.transaction.get("mint") == facts.transaction["value"]:
        return Recognised("deposit", values, has_value=True, stated={COIN: _stated_value(facts)})
    if facts.is_to_itself:
        return _to_itself(facts, values)
    return Recognised(_sent(values), values, has_value=True, stated={COIN: -facts.value})


def _sent(values: Values) -> str:
    if "text" in values:
        return "memo"
    return "message" if "bytes" in values else "coin"


def _to_itself(facts: Facts, values: Values) -> Recognised:
    """Recognise a transaction of an account to itself. The account may run code (EIP-7702), which
    may move anything: only a trace shows that nothing moved."""
    if facts.internal:
        return Recognised("own-code", {}, has_value=True)
    if facts.internal is None and facts.has_code is not False:
        return Recognised("own-code-unknown" if facts.has_code else "to-itself", {}, has_value=True)
    if facts.details.input is None and facts.transaction["methodId"]:
        return Recognised("to-itself", {}, has_value=True)
    if "bytes" in values:
        return Recognised(_sent(values), values, has_value=True)
    return Recognised(
        "coin-to-itself" if facts.value else "nothing-to-itself", values, has_value=True
    )


def _wrapped(facts: Facts, names: Names) -> Recognised | None:
    """Recognise a holder's call of deposit or withdraw of a token that wraps the coin."""
    token = facts.transaction["toAddress"]
    logs = facts.details.logs or ()
    if not names.token(token).get("wraps") or len(facts.transfers) != 1 or len(logs) != 1:
        return None
    [transfer], [log] = facts.transfers, logs
    value = int(transfer["value"])
    if not value or transfer["tokenAddress"] != token or transfer["tokenId"] is not None:
        return None
    topic = log.topics[0] if log.topics else None
    amount = [asset_part(names, Asset(token), value)]
    holders = transfer["fromAddress"], transfer["toAddress"]
    if topic == DEPOSIT and holders == (ZERO, facts.sender) and value == facts.value:
        values = {"given": [_coin(facts, names)], "got": amount}
        stated = {COIN: -value, Asset(token): value}
        return Recognised("wrap", values, has_value=True, stated=stated)
    is_paid = facts.internal is None or facts.flows().get(COIN, 0) + facts.value >= value
    if topic == WITHDRAWAL and holders == (facts.sender, ZERO) and is_paid:
        paid = {} if facts.internal is None else {COIN: value}
        return Recognised("unwrap", {"given": amount}, stated={Asset(token): -value, **paid})
    return None


def _moved(facts: Facts, names: Names) -> Recognised | None:
    """Recognise transfers of one token that are all mints, all burns, or all from one holder."""
    if facts.trades or not facts.transfers or not facts.is_complete:
        return None
    owners = {transfer["fromAddress"] for transfer in facts.transfers}
    recipients = {transfer["toAddress"] for transfer in facts.transfers}
    tokens = {transfer["tokenAddress"] for transfer in facts.transfers}
    if len(tokens) != 1 or len(owners) != 1 or (ZERO in owners and ZERO in recipients):
        return None
    [token], [owner] = tokens, owners
    is_direct = token == facts.transaction["toAddress"]
    stated = {asset: value for asset, value in facts.flows().items() if asset != COIN}
    moved: Flows = defaultdict(int)
    for transfer in facts.transfers:
        moved[Asset(token, transfer["tokenId"])] += int(transfer["value"])
    parts = assets_parts(names, [*moved.items()])
    values = {
        "given": parts,
        "got": parts,
        "owner": [address_part(names, owner)],
        "recipient": recipients_parts(names, recipients),
    }
    if owner == ZERO:
        is_own = recipients == {facts.sender}
        form = "mint" if is_own else "mint-for"
        return Recognised(form, values, stated=stated) if is_own or is_direct else None
    if not is_direct and (owner != facts.sender or len(recipients) == 1):
        return None
    if ZERO in recipients:
        if len(recipients) > 1:
            return None
        return Recognised("burn" if owner == facts.sender else "burn-of", values, stated=stated)
    if owner != facts.sender:
        return Recognised("transfer-of", values, stated=stated)
    form = "transfer-to-itself" if recipients == {owner} else "transfer"
    return Recognised(form, values, stated=stated)


class EventForm(NamedTuple):
    """The form of the table that an event of the called contract fits, and its arguments."""

    form: Mapping[str, Any]
    words: Sequence[bytes]


def event_form(facts: Facts) -> EventForm | None:
    """Return the form of the called contract's only event, or of an event that the form lists the
    called method for; None where none fits."""
    details, called_address = facts.details, facts.transaction["toAddress"]
    logs = details.logs or ()
    if not facts.transaction["status"] or facts.transfer_count or facts.trade_count:
        return None
    if details.log_count != len(logs):
        return None
    signature = details.method.signature if details.method else None
    for log in logs:
        if to_hex(log.address) != called_address or not log.topics:
            continue
        words = words_of(log)
        for form in _forms_by_topic().get(log.topics[0], ()):
            is_known = len(logs) == 1 or signature in form.get("methods", ())
            if is_known and fits(form, log, words, facts.sender):
                return EventForm(form, words)
    return None


def _event_summary(facts: Facts, names: Names) -> Summary | None:
    """Summarise the transaction by an event. Where the contract's state does not show the change
    that the event claims, the sentence only says that the event was emitted."""
    event = event_form(facts)
    if event is None:
        return None
    form, words = event
    if "state" in form and not facts.is_state_changed:
        name = Part(form["event"].partition("(")[0])
        emitted = Recognised(
            "emitted", {**_call_values(facts, names), "event": [name]}, has_value=True
        )
        return _recognised(facts, names, emitted)
    values = values_of(form["text"], words, facts.transaction["toAddress"], names)
    sentence = _filled(form["text"], values) + _with_coin(facts, names)
    stated = {COIN: _stated_value(facts)}
    if form["event"].startswith("Approval"):
        return Summary(form["action"], merged(sentence + movements(facts, names, stated)))
    return _ended(facts, names, form["action"], sentence, stated)


@cache
def _forms_by_topic() -> Mapping[bytes, Sequence[Mapping[str, Any]]]:
    forms = defaultdict(list)
    for form in FORMS["events"]:
        forms[topic_of(form["event"])].append(form)
    return dict(forms)


def _method_summary(facts: Facts, names: Names) -> Summary | None:
    """Summarise the transaction by its calldata: calls such as multicall, by their number."""
    method = facts.details.method
    if method is None or facts.transfers or facts.trades:
        return None
    for form in FORMS["methods"]:
        if method.signature in form["methods"]:
            calls = method.arguments[-1].value
            count = [Part(f"{len(calls):,}")]
            values = {**_call_values(facts, names), "count": count}
            sentence = _filled(form["text"], values) + _with_coin(facts, names)
            return _ended(facts, names, form["action"], sentence, {COIN: _stated_value(facts)})
    return None


def _called(facts: Facts, names: Names) -> Recognised:
    """Recognise a call by its method and contract, or else coin that is sent."""
    if facts.details.is_call:
        return Recognised("call", _call_values(facts, names), has_value=True)
    if facts.is_to_itself:
        return Recognised("own-code", {}, has_value=True)
    to = str(facts.transaction["toAddress"])
    values = {"given": [_coin(facts, names)], "recipient": [address_part(names, to)]}
    return Recognised("coin", values, has_value=True, stated={COIN: -facts.value})


def _call_values(facts: Facts, names: Names) -> Values:
    method, selector = facts.details.method, facts.transaction.get("methodId")
    if method is not None:
        name = clean(method.name, MAX_METHOD) or "a method"
    elif facts.details.input:
        name = to_hex(facts.details.input[:4])
    else:
        name = selector or "a method"
    contract = contract_part(names, str(facts.transaction["toAddress"]))
    return {"method": [Part(name, "method")], "contract": [contract]}


def _coin(facts: Facts, names: Names) -> Part:
    return asset_part(names, COIN, facts.value)
