"""Mail addresses: the plain ones of RFC 5321, in ASCII, so that no header can be made of one."""

import re

MAX_CHARACTERS = 254

_PLAIN = re.compile(
    r"(?!.*=\?)"  # begins an encoded word (RFC 2047), which a header shows as what it decodes to
    r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)


def mail_address(text: str) -> str:
    """Return an address in lower case; raises ValueError."""
    address = text.strip(" ").lower()
    if len(address) > MAX_CHARACTERS or not _PLAIN.fullmatch(address):
        raise ValueError("must be a mail address such as anna@example.org")
    if len(address.partition("@")[0]) > 64:
        raise ValueError("must be a mail address whose first part has at most 64 characters")
    return address
