// «/» searches, «?» explains, «g» and a letter opens a screen. Never while typing.
const help = document.querySelector("dialog[data-keys]");
const search = document.querySelector("[data-search]");
const FOLLOWS_WITHIN_MS = 1500;
let goneAt = 0;

function isTyping(target) {
  return target.closest("input, textarea, select, [contenteditable]") !== null;
}

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
  } else if (event.key === "?") {
    help?.showModal();
  }
});

document.querySelector("[data-keys-open]")?.addEventListener("click", () => help?.showModal());
