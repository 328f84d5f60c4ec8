"""Paths of a service, by its rules."""

import re


def paths_of(client, values, left_out):
    """Each that GET takes and its rule: with these values of its parameters, and 1 for others."""
    for rule in client.application.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and rule.rule not in left_out:
            arguments = {name: values.get(name, "1") for name in rule.arguments}
            path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule).format(**arguments)
            yield path, rule.rule
