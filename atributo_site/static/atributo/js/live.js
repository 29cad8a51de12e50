// One stream of hints per tab: each part that an event concerns fetches itself again, at most
// once a second. Without the stream, and for what changes without an event, the clock does it.
// <section id="x" data-live="instance queue:mail" …>: those topics; an empty value means all.
const STREAM = "/events/stream";
const LEAST_PAUSE_MS = 1000;
const POLL_MS = { live: 15000, polling: 5000 };
const SAID = { live: "Live", polling: "Polling", paused: "Paused" };

const button = document.querySelector("[data-live-switch]");
const parts = () => [...document.querySelectorAll("[data-live]")];

let paused = sessionStorage.getItem("paused") === "yes";
let source = null;
let poll = null;
let waiting = null;
let lastAt = 0;
const stale = new Set(); // ids of the parts to fetch

function enter(state) {
  clearInterval(poll);
  poll = state === "paused" ? null : setInterval(() => hint(), POLL_MS[state]);
  if (!button) return;
  button.hidden = parts().length === 0;
  button.dataset.state = state;
  button.setAttribute("aria-pressed", String(state === "paused"));
  button.querySelector("[data-live-word]").textContent = SAID[state];
}

// A tick or a word that nobody has sent yet would be lost.
const isFilledIn = (field) => field.type === "checkbox" || field.type === "radio"
  ? field.checked !== field.defaultChecked
  : field.defaultValue !== undefined && field.value !== field.defaultValue;

function isBusy(part) {
  const typing = part.contains(document.activeElement) &&
    document.activeElement.matches("input, select, textarea");
  const selection = document.getSelection();
  return typing || [...part.querySelectorAll("input, textarea")].some(isFilledIn) ||
    (!selection.isCollapsed && part.contains(selection.anchorNode)) ||
    part.querySelector(":active, details[open][data-touched], dialog[open], [data-chart]:hover") !== null;
}

// What somebody opened stays as it is; what the server opens does not keep the part from changing.
document.addEventListener("click", (event) => {
  const opened = event.target.closest("summary")?.parentElement;
  if (opened) opened.dataset.touched = "yes";
});

function refresh() {
  waiting = null;
  lastAt = Date.now();
  for (const part of parts()) {
    if (stale.has(part.id) && !isBusy(part)) window.htmx?.trigger(part, "refresh");
  }
  stale.clear();
}

// Whoever began to type while the answer was under way is not interrupted either.
document.addEventListener("htmx:beforeSwap", (event) => {
  const part = event.detail.target;
  if (part?.matches?.("[data-live], [data-polled]") && isBusy(part)) event.detail.shouldSwap = false;
});

// What asks by its own clock is quiet, too, while the page is paused or nobody sees it.
document.addEventListener("htmx:beforeRequest", (event) => {
  const isQuiet = paused || document.hidden;
  if (isQuiet && event.detail.elt.matches("[data-polled]")) event.preventDefault();
});

function concerns(part, subject) {
  const topics = part.dataset.live.split(" ").filter(Boolean);
  return subject === null || topics.length === 0 ||
    topics.some((topic) => subject === topic || subject.startsWith(`${topic}:`));
}

function hint(subject = null) {
  for (const part of parts()) if (concerns(part, subject)) stale.add(part.id);
  if (stale.size > 0) {
    waiting ??= setTimeout(refresh, Math.max(0, lastAt + LEAST_PAUSE_MS - Date.now()));
  }
}

function start() {
  if (paused || document.hidden || source || parts().length === 0) return;
  enter("polling");
  source = new EventSource(STREAM);
  source.onopen = () => enter("live");
  source.onerror = () => enter("polling");
  source.onmessage = (message) => hint(JSON.parse(message.data).subject);
  source.addEventListener("overflow", () => hint());
}

function stop() {
  source?.close();
  clearInterval(poll);
  clearTimeout(waiting);
  source = poll = waiting = null;
}

function resume() {
  start();
  hint();
}

button?.addEventListener("click", () => {
  paused = !paused;
  sessionStorage.setItem("paused", paused ? "yes" : "no");
  stop();
  if (paused) enter("paused");
  else resume();
});
document.addEventListener("visibilitychange", () => {
  stop();
  if (!document.hidden && !paused) resume();
});

if (paused) enter("paused");
start();
