"""A hand that does errands in the console and counts its clicks; keys and typing are no clicks."""

from playwright.sync_api import expect

# The most clicks that each errand may take; docs/console.md has the same numbers.
CLICKS = {
    "Correct the data of a failed job and run it again": 4,
    "Retry all jobs of one error": 2,
    "Run a script every 5 minutes until tomorrow": 2,
    "Pause a queue and scale it": 2,
    "Drain an instance, watch it, stop the drain": 2,
    "Find out where a key is and was": 0,
    "Free a lock, and roll back a transaction": 4,
    "Watch a name in DNS": 2,
    "Install a service, run its script and schedule it": 5,
    "Create a token and use it with curl": 2,
    "See what went wrong in the last hour": 1,
    "Create a user who may only look": 1,
}


class Hand:
    def __init__(self, page):
        self.page, self.clicks = page, 0

    def click(self, selector):
        self.clicks += 1
        self.page.locator(selector).first.click()

    def fill(self, field, text):
        self.page.locator(f'main [name="{field}"]').filter(visible=True).first.fill(text)

    def choose(self, field, value):
        """Choose in a list, as the keys do."""
        self.page.locator(f'main select[name="{field}"]').select_option(value)

    def go_to(self, text, address):
        """Search, and open the result with this address by keys alone."""
        box = self.page.locator("[data-search]")
        self.page.keyboard.press("/")
        expect(box).to_be_focused()
        box.fill(text)  # one text, one answer: a list that changed would lose the choice
        option = self.page.locator(f'#suggestions [role=option][href="{address}"]')
        expect(option).to_be_visible()
        options = self.page.locator("#suggestions a[role=option]")
        for _ in range(options.count()):
            box.press("ArrowDown")
            if option.get_attribute("aria-selected") == "true":
                break
        box.press("Enter")
        self.page.wait_for_url(f"**{address}")
