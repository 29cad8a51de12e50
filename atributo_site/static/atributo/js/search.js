// The box of the top bar: results appear while one types, arrows go through them, Enter opens one.
// Without a choice Enter opens the page of all results, as it does without this script.
const PAUSE_MS = 120;
const box = document.querySelector("[data-search]");
const list = document.querySelector("#suggestions");
let pending = 0;
let asked = 0; // an answer that comes late belongs to an older text

const options = () => [...list.querySelectorAll("a[role=option]")];
const chosen = () => list.querySelector("[aria-selected=true]");

function open(isOpen) {
  list.hidden = !isOpen;
  box.setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) choose(null);
}

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) box.setAttribute("aria-activedescendant", option.id);
  else box.removeAttribute("aria-activedescendant");
}

async function ask() {
  const text = box.value.trim();
  const number = ++asked;
  if (!text) return open(false);
  const url = `${box.form.action}?${new URLSearchParams({ q: text })}`;
  const headers = { "HX-Request": "true", "HX-Target": list.id };
  try {
    const response = await fetch(url, { headers, credentials: "same-origin" });
    if (!response.ok || response.headers.has("HX-Refresh")) return;
    const found = await response.text();
    if (number !== asked || document.activeElement !== box) return;
    list.innerHTML = found;
    list.scrollTop = 0;
    open(true);
  } catch {
    // Away for a moment; Enter still asks for the page.
  }
}

function step(by) {
  const all = options();
  if (!all.length) return;
  const place = all.indexOf(chosen());
  choose(all[(place < 0 && by < 0 ? all.length - 1 : place + by + all.length) % all.length]);
}

const KEYS = {
  ArrowDown: () => (list.hidden ? ask() : step(1)),
  ArrowUp: () => step(-1),
  Enter: () => chosen().click(),
  Escape: () => open(false),
};

if (box && list) {
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-autocomplete", "list");
  box.setAttribute("aria-controls", list.id);
  box.setAttribute("aria-expanded", "false");
  box.addEventListener("input", () => {
    clearTimeout(pending);
    pending = setTimeout(ask, PAUSE_MS);
  });
  box.addEventListener("keydown", (event) => {
    const isIdle = (event.key === "Enter" && !chosen()) || (event.key === "Escape" && list.hidden);
    if (!KEYS[event.key] || event.isComposing || isIdle) return;
    event.preventDefault();
    KEYS[event.key]();
  });
  box.addEventListener("blur", () => open(false));
  list.addEventListener("mousedown", (event) => event.preventDefault()); // the box keeps the focus
}
