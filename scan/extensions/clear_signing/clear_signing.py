"""What calls and messages that are decoded or simulated are for, in records of other extensions."""

from scan.extensions.clear_signing.queries import of_calls, of_message
from scan.extensions.transaction_details.hooks import ClearSigning

HOOKS = ClearSigning(of_calls=of_calls, of_message=of_message, template="clear_signing.html")
