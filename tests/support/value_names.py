"""How tests of many values are named."""


def shown(value):
    """The value, printable and short, for `ids`; a function is named by pytest."""
    text = ascii(value).strip("'") if isinstance(value, str) else ascii(value)
    return None if callable(value) else text[:60]
