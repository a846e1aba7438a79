"""A page as a reader's browser takes it: its texts, its elements, and whether they nest."""

from html.parser import HTMLParser

_VOID = {"meta", "br", "wbr", "link", "img", "hr"}


class Page(HTMLParser):
    """Parsed HTML; an element that is not closed where it should be raises AssertionError."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element and that it is open."""
        assert len(dict(attrs)) == len(attrs), f"an attribute given twice: {tag} {attrs}"
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element without content."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which it must be."""
        assert self._open.pop() == tag, f"{tag} closes another element"

    def handle_data(self, data: str) -> None:
        """Gather what is shown."""
        if not {"style", "script"} & set(self._open):
            self.text += data

    @property
    def words(self) -> str:
        """The text with single spaces."""
        return " ".join(self.text.split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of every such element."""
        return [attributes for name, attributes in self.elements if name == tag]
