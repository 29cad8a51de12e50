"""Examine a page with axe-core and with measures of our own."""

from pathlib import Path

AXE = (Path(__file__).parent / "axe.min.js").read_text()
RUN = """async (options) => {
    const found = await axe.run(document, {resultTypes: ["violations"], ...options});
    return found.violations.map(v =>
        `${v.id}: ${v.nodes.map(n => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
}"""
# Its own measure of colours takes twice as long as all others; ours is asked in both themes.
BUT_COLOURS = {"rules": {"color-contrast": {"enabled": False}}}
HEADINGS = "document.querySelectorAll('h1').length"
WIDTH = "document.documentElement.scrollWidth"
WIDTHS = (1440, 1024, 390)

CONTRAST = (Path(__file__).parent / "contrast.js").read_text()
PHONE = (Path(__file__).parent / "phone.js").read_text()


def examined(page, path):
    """Return what axe, the colours, headings, widths and rules for phones object to."""
    status = page.goto(path).status
    wrong = [f"{status}"] * (status != 200) + page.evaluate(RUN, BUT_COLOURS)
    wrong += ["injected"] * page.locator("#injected").count()
    wrong += [f"{count} headings" for count in [page.evaluate(HEADINGS)] if count != 1]
    return wrong + [bad for look in (weak, wide) for bad in look(page)] + page.evaluate(PHONE)


def weak(page):
    """Return the texts that are hard to read in either theme."""
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        yield from (f"weak in the {theme}: {each}" for each in page.evaluate(CONTRAST))


def wide(page):
    """Return the screens that scroll sideways; the last width is the phone's."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        if (found := page.evaluate(WIDTH)) > width:
            yield f"{found} pixels wide on {width}"
