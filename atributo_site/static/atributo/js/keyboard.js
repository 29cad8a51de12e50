// '/' searches, '?' explains, 'g' and a letter opens a screen; 'j' and 'k' go through the rows,
// 'x' ticks one, 'r' retries, 'p' pauses. Never while typing.
const help = document.querySelector("dialog[data-keys]");
const search = document.querySelector("[data-search]");
const FOLLOWS_WITHIN_MS = 1500;
let goneAt = 0;

function isTyping(target) {
  return target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;
}

// A row is where its first link has the focus: Enter opens it as it opens any link.
const rows = () => [...document.querySelectorAll("main .table tbody tr")].filter((row) => row.querySelector("a"));
const here = () => document.activeElement?.closest("main .table tbody tr");

function step(by) {
  const all = rows();
  const place = all.indexOf(here());
  const next = all[Math.max(0, Math.min(all.length - 1, place < 0 ? 0 : place + by))];
  next?.querySelector("a").focus();
}

function retry() {
  const row = here();
  const ticked = document.querySelector("input[name=job]:checked, input[name=scope]:checked");
  const box = row?.querySelector("input[name=job]");
  if (box && !ticked) box.checked = true;
  (row?.querySelector("[data-retry]") ?? document.querySelector("[data-retry]"))?.click();
}

const KEYS = {
  j: () => step(1),
  k: () => step(-1),
  x: () => here()?.querySelector("input[type=checkbox]")?.click(),
  r: retry,
  p: () => document.dispatchEvent(new Event("live:toggle")),
  "?": () => help?.showModal(),
};

function open(key) {
  document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.click();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (Date.now() - goneAt < FOLLOWS_WITHIN_MS) {
    goneAt = 0;
    open(event.key);
  } else if (event.key === "g") {
    goneAt = Date.now();
  } else if (event.key === "/" && search) {
    event.preventDefault();
    search.focus();
    search.select();
  } else {
    KEYS[event.key]?.();
  }
});

document.querySelector("[data-keys-open]")?.addEventListener("click", () => help?.showModal());
