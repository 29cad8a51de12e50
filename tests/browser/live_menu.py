"""The menu of live updates in the top bar."""

MENU = "[data-live-menu]"
WORD = "[data-live-word]"


def choose(page, name):
    page.locator(f"{MENU} summary").click()
    page.locator(MENU).get_by_role("button", name=name, exact=True).click()
