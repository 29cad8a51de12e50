// Tabs and the bar of screens scroll sideways on a phone: the current one comes into sight.
for (const link of document.querySelectorAll(":is(.tabs, .side) [aria-current]")) {
  link.scrollIntoView({ block: "nearest", inline: "center" });
}
