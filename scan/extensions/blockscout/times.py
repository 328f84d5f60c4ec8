"""Times as Blockscout writes them: ISO 8601 with microseconds."""


def timestamp(iso: str) -> str:
    return f"{iso.removesuffix('Z')}.000000Z"
