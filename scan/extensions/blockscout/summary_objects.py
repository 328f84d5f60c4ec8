"""The sentence about a transaction, as a template with variables that clients fill."""

from typing import Any

from scan.extensions.blockscout.address_objects import AddressObjects
from scan.extensions.transaction_details.explanations.transaction_summary import Summary


def summary_object(summary: Summary) -> dict[str, Any]:
    """Return the template; all but plain text is a variable of its own, since names from the chain
    may contain braces."""
    objects = AddressObjects(part.address for part in summary.parts if part.type == "address")
    template, variables = "", dict[str, dict[str, Any]]()
    for number, part in enumerate(summary.parts):
        if part.type is None and not set(part.text) & set("{}"):
            template = f"{template}{part.text}"
            continue
        name = f"part_{number}"
        template = f"{template}{{{name}}}"
        variables[name] = {"type": "string", "value": part.text}
        if part.type == "address" and part.address is not None:
            variables[name] = {"type": "address", "value": objects.of(part.address)}
    shown = {"summary_template": template, "summary_template_variables": variables}
    return {"success": True, "data": {"summaries": [shown]}}
