"""The operator's name, logo, colours, links and notice on the pages."""

from dataclasses import dataclass

Palette = tuple[tuple[str, tuple[str, str]], ...]


@dataclass(frozen=True)
class Logo:
    name: str
    content: bytes


@dataclass(frozen=True)
class Brand:
    """What an extension reads from the operator's file; an empty one means Scan's own."""

    name: str = ""
    url: str = ""
    logo: Logo | None = None
    colors: Palette = ()
    stylesheet: str = ""
    links: tuple[tuple[str, str], ...] = ()
    tagline: str = ""
    notice: str = ""
    robots: str = "index"
    public_rpc_url: str = ""
    security_contact: str = ""

    @property
    def css(self) -> str:
        """The style sheet that follows Scan's own; "" without colours and file."""
        values = " ".join(
            f"--{name}: light-dark({light}, {dark});" for name, (light, dark) in self.colors
        )
        return (f":root {{ {values} }}\n" if values else "") + self.stylesheet


UNBRANDED = Brand()
