"""What `make mutants` changes: see tests/mutants.py."""

import pytest

from tests.support.python_mutants import functions
from tests.support.sql_mutants import mutants

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("SELECT a FROM t WHERE b = 1", ["SELECT a FROM t WHERE true"]),
        (
            "SELECT a FROM t WHERE (b OR c = 2) AND d IN (3, 4) ORDER BY a",
            [
                "SELECT a FROM t WHERE true AND d IN (3, 4) ORDER BY a",
                "SELECT a FROM t WHERE (b OR false) AND d IN (3, 4) ORDER BY a",
                "SELECT a FROM t WHERE (b OR c = 2) AND true ORDER BY a",
            ],
        ),
        ("SELECT a FROM t WHERE b BETWEEN 1 AND 2", ["SELECT a FROM t WHERE true"]),
        (
            "SELECT count(*) FILTER (WHERE a IS DISTINCT FROM b)",
            ["SELECT count(*) FILTER (WHERE true)"],
        ),
        (
            "SELECT a FROM t LEFT JOIN u ON u.a = t.a",
            ["SELECT a FROM t  JOIN u ON u.a = t.a", "SELECT a FROM t LEFT JOIN u ON true"],
        ),
        ("SELECT -a + %(b)s", ["SELECT -a - %(b)s"]),
        ("SELECT CASE WHEN a THEN b ELSE c END", ["SELECT CASE WHEN false THEN b ELSE c END"]),
        ("SELECT CASE a WHEN 'x' THEN b END", []),
        ("SELECT DISTINCT a, '1 + 1' -- 1 + 1", ["SELECT  a, '1 + 1' -- 1 + 1"]),
        (
            "WITH x AS (SELECT 1) SELECT a UNION ALL SELECT b UNION ALL SELECT c",
            [
                "WITH x AS (SELECT 1) SELECT a UNION ALL (SELECT b LIMIT 0) UNION ALL SELECT c",
                "WITH x AS (SELECT 1) (SELECT a LIMIT 0) UNION ALL SELECT b UNION ALL SELECT c",
                "WITH x AS (SELECT 1) SELECT a UNION ALL SELECT b UNION ALL (SELECT c LIMIT 0)",
            ],
        ),
        (
            "(SELECT a.b) UNION SELECT (c).d",
            [
                "(SELECT a.b) UNION (SELECT (c).d LIMIT 0)",
                "((SELECT a.b) LIMIT 0) UNION SELECT (c).d",
            ],
        ),
        (
            "SELECT (a).b UNION SELECT c",
            ["SELECT (a).b UNION (SELECT c LIMIT 0)", "(SELECT (a).b LIMIT 0) UNION SELECT c"],
        ),
        ("CREATE OR REPLACE FUNCTION a() RETURNS integer RETURN 1", []),
        ("SELECT max(a) WHERE b <> c", None),
    ],
)
def test_every_condition_sign_join_and_branch_is_taken_out(text, changed):
    found = list(mutants(text))
    if changed is None:
        assert {(m.kind, m.replacement) for m in found} == {
            ("opposite", "min"),
            ("condition", "true"),
            ("opposite", "="),
        }
    else:
        assert [mutant.apply(text) for mutant in found] == changed


@pytest.mark.parametrize(
    ("statement", "changed"),
    [
        ("return a < 1", ["return (a <= 1)", "return a < 2"]),
        ("return a if not b and c else d + e", [
            "return a if (not b or c) else d + e",
            "return a if (b) and c else d + e",
            "return a if not b and c else (d - e)",
        ]),
        ("if a:\n            b(c)", ["if (not a):\n            b(c)", "if a:\n            pass"]),
        ("x: Literal[1] = None", []),
        ("log.info('a')", []),
        ("assert a == 1", []),
        ("return 'é' + f'{a < b}', c is None", ["return 'é' + f'{a < b}', (c is not None)"]),
    ],
)  # fmt: skip
def test_every_operator_number_and_call_of_a_function_is_changed(statement, changed):
    text = 'class A:\n    def f(self, a=1):\n        "é"\n        {}\n'
    [function] = functions(text.format(statement))
    assert function.name == "A.f"
    assert [m.apply(text.format(statement)) for m in function.mutants] == [
        text.format(each) for each in changed
    ]
