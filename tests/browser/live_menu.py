"""The menu of live updates in the top bar."""

MENU = "[data-live-menu]"
WORD = "[data-live-word]"
WITHOUT_CLOCK = "window.setInterval = () => 0;"  # nothing is refreshed but by a hint


def choose(page, name):
    page.locator(f"{MENU} summary").click()
    page.locator(MENU).get_by_role("button", name=name, exact=True).click()


COME_BACK = """() => {
    document.dispatchEvent(new Event("visibilitychange"));
    return new Promise((done) => setTimeout(done, 10));
}"""
