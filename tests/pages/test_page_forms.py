"""Forms of pages without a script: functions of contracts, sources to verify, suggestions."""

import re
from html import unescape
from io import BytesIO

import pytest
from eth_utils.address import to_checksum_address

from tests.pages.markup import Markup, require_no_inline_code


def test_a_function_is_asked_for_without_a_script(explorer, many):
    form = {"function": "over(uint256)", "argument": "5"}
    assert ">number</span>" in explorer.client.post(f"/address/{many}/call", data=form).text
    form = {"function": "divide(uint256)", "argument": "0.5 gwei"}
    page = explorer.client.post(f"/address/{many}/call", data=form).text
    assert "Called with <code>500000000</code>." in page and '"long">0</span>' in page
    form = {"function": "divide", "argument": "500000000"}  # no form has this name
    page = explorer.client.post(f"/address/{many}/call", data=form).text
    assert 'aria-label="Result"><span class="long">0</span>' in page
    form = {"function": "require_(uint256)", "argument": "5"}
    refused = explorer.client.post(f"/address/{many}/call", data=form)
    assert refused.status_code == 422 and "too small" in refused.text


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"function": "divide(uint256)", "argument": "1.5"}, "1.5 has no unit. Write one, such as"),
        ({"function": "list(uint256[])", "argument": '[1, "two"]'}, "a[1]: expected uint256"),
        ({"function": "flags(address,uint256)", "argument": ["0x12", "1"]}, "argument 1: expected"),
    ],
)
def test_forms_of_calls_have_words_of_their_own_in_errors(explorer, many, form, words):
    assert problem_of(explorer.client.post(f"/address/{many}/call", data=form)).startswith(words)


def test_forms_of_sources_have_words_of_their_own_in_errors(explorer):
    path = f"/address/{explorer.place('6001600103')}/verify"
    form = {"source": "{}", "compilerVersion": "0.8.28"}
    problem = problem_of(explorer.client.post(path, data=form))
    assert problem.startswith("The source looks like a standard JSON")


def problem_of(answer):
    [problem] = re.findall(r'class="problem"[^>]*>([^<]+)<', answer.text)
    assert answer.status_code == 400
    return unescape(problem)


def test_files_of_one_name_are_refused(explorer):
    address = explorer.place("6001600102")
    files = [(BytesIO(b"contract A {}"), "A.sol"), (BytesIO(b"contract B {}"), "A.sol")]
    form = {"compilerVersion": "0.8.28", "files": files}
    answer = explorer.client.post(f"/address/{address}/verify", data=form)
    assert answer.status_code == 400 and "standard JSON" in answer.text


def test_a_refused_source_stays_in_the_form(explorer):
    address = explorer.place("6001600101")
    form = {"compilerVersion": "0.8.28", "source": "contract A { <b> }", "runs": "77"}
    answer = explorer.client.post(f"/address/{address}/verify", data=form)
    assert answer.status_code == 422
    assert "contract A { &lt;b&gt; }" in answer.text and 'value="77"' in answer.text


@pytest.mark.parametrize(
    "text", ["", " ", "a", "mus", "\u202e", "<script>", "0", "%", "0x" + "1" * 64]
)
def test_suggestions_are_options_with_links(client, text):
    answer = client.get("/search/suggestions", query_string={"q": text})
    assert answer.status_code == 200
    require_no_inline_code(answer.text)
    options = [a for tag, a in Markup(answer.text).tags if a.get("role") == "option"]
    assert len(options) <= 8
    assert all((option["href"] or "").startswith("/") for option in options)
    assert "<script" not in answer.text
    assert client.get("/search/suggestions", query_string={"q": "x" * 2049}).status_code == 400


def test_a_suggested_address_has_its_checksum(client, scenario):
    person = scenario.truth.transactions[0]["fromAddress"]
    html = client.get("/search/suggestions", query_string={"q": person}).text
    assert to_checksum_address(person) in html and f'href="/address/{person}"' in html
    assert f">{person}" not in html
