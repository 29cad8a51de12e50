// One stream of hints per tab. A hint names no content: each part that it concerns fetches
// itself again, at most once a second. Without the stream the parts are fetched by the clock.
const STREAM = "/events/stream";
const LEAST_PAUSE_MS = 1000;
const POLL_MS = 5000;
const SAID = { live: "Live", polling: "Polling", paused: "Paused" };

const button = document.querySelector("[data-live-switch]");
const parts = () => [...document.querySelectorAll("[data-live]")];

let paused = sessionStorage.getItem("paused") === "yes";
let source = null;
let poll = null;
let waiting = null;
let lastAt = 0;

function show(state) {
  if (!button) return;
  button.hidden = parts().length === 0;
  button.dataset.state = state;
  button.setAttribute("aria-pressed", String(state === "paused"));
  button.querySelector("[data-live-word]").textContent = SAID[state];
}

function isBusy(part) {
  const typing = part.contains(document.activeElement) &&
    document.activeElement.matches("input, select, textarea");
  const selection = document.getSelection();
  return typing || (!selection.isCollapsed && part.contains(selection.anchorNode)) ||
    part.querySelector("details[open], dialog[open]") !== null;
}

function refresh() {
  waiting = null;
  lastAt = Date.now();
  for (const part of parts()) if (!isBusy(part)) window.htmx?.trigger(part, "refresh");
}

function hint() {
  if (waiting === null) {
    waiting = setTimeout(refresh, Math.max(0, lastAt + LEAST_PAUSE_MS - Date.now()));
  }
}

function startPolling() {
  show("polling");
  poll ??= setInterval(hint, POLL_MS);
}

function start() {
  if (paused || document.hidden || source || parts().length === 0) return;
  source = new EventSource(STREAM);
  source.onopen = () => {
    clearInterval(poll);
    poll = null;
    show("live");
  };
  source.onmessage = hint;
  for (const kind of ["hint", "event"]) source.addEventListener(kind, hint);
  source.onerror = startPolling;
}

function stop() {
  source?.close();
  clearInterval(poll);
  clearTimeout(waiting);
  source = poll = waiting = null;
}

button?.addEventListener("click", () => {
  paused = !paused;
  sessionStorage.setItem("paused", paused ? "yes" : "no");
  stop();
  if (paused) show("paused");
  else {
    start();
    hint();
  }
});
document.addEventListener("visibilitychange", () => {
  stop();
  if (document.hidden || paused) return;
  start();
  hint();
});

show(paused ? "paused" : "polling");
start();
