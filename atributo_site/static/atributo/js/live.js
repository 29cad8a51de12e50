// One stream of hints per tab: each part that an event concerns fetches itself again, at most
// once a second. Without the stream, and for what changes without an event, the clock does it.
// <section id="x" data-live="instance queue:mail" …>: those topics; an empty value means all.
const STREAM = "/events/stream";
const LEAST_PAUSE_MS = 1000;
const ASK_AGAIN_MS = 15000; // after a refusal, which the browser takes for the last word
const PACES_S = [0, 5, 30];
const POLL_MS = { live: 15000, polling: 5000 };
const SAID = { live: "Live", polling: "Polling", paused: "Paused" };

const menu = document.querySelector("[data-live-menu]");
const choices = [...document.querySelectorAll("[data-pace]")];
const parts = () => [...document.querySelectorAll("[data-live]")];

// What a person chose holds for all tabs of the browser: seconds, 0 for at once, and a pause.
const isPaused = () => localStorage.getItem("paused") === "yes";
const pace = () => PACES_S.find((seconds) => String(seconds) === localStorage.getItem("pace")) ?? 0;
let since = document.body.dataset.since ?? ""; // the last event that this page knows
let source = null;
let again = null;
let poll = null;
let waiting = null;
let lastAt = 0;
const stale = new Set(); // ids of the parts to fetch

function enter(state) {
  clearInterval(poll);
  poll = state === "paused" ? null : setInterval(() => hint(), POLL_MS[state] ?? pace() * 1000);
  if (!menu) return;
  const chosen = isPaused() ? "paused" : String(pace());
  menu.hidden = parts().length === 0;
  menu.dataset.state = state;
  menu.querySelector("[data-live-word]").textContent = SAID[state] ?? `${pace()} s`;
  for (const choice of choices) {
    choice.setAttribute("aria-pressed", String(choice.dataset.pace === chosen));
  }
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

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  if (event.detail.target && isBusy(event.detail.target)) event.detail.shouldSwap = false;
});

// What asks by its own clock keeps to the pace, too, and is quiet while paused or unseen.
const askedAt = new Map();
document.addEventListener("htmx:beforeRequest", (event) => {
  const part = event.detail.elt;
  if (!part.matches("[data-polled]")) return;
  const isTooSoon = Date.now() < (askedAt.get(part.id) ?? 0) + pace() * 1000;
  if (isPaused() || document.hidden || isTooSoon) event.preventDefault();
  else askedAt.set(part.id, Date.now());
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
  if (isPaused()) return enter("paused");
  if (document.hidden || source || parts().length === 0) return;
  if (pace() > 0) return enter("paced");
  enter("polling");
  source = new EventSource(since ? `${STREAM}?last_event_id=${encodeURIComponent(since)}` : STREAM);
  source.onopen = () => enter("live");
  source.onerror = lose;
  source.onmessage = (message) => learn(message, JSON.parse(message.data).subject);
  source.addEventListener("overflow", (message) => learn(message, null));
}

function learn(message, subject) {
  since = message.lastEventId || since;
  hint(subject);
}

function lose() {
  enter("polling");
  if (source.readyState !== EventSource.CLOSED) return; // the browser connects again by itself
  source = null;
  since = ""; // perhaps it was refused for this
  again = setTimeout(start, ASK_AGAIN_MS);
}

function stop() {
  source?.close();
  clearInterval(poll);
  clearTimeout(waiting);
  clearTimeout(again);
  source = poll = waiting = again = null;
}

function startAnew() {
  stop();
  start();
  if (!isPaused() && !document.hidden) hint();
}

function pause(word) {
  localStorage.setItem("paused", word);
  startAnew();
}

for (const choice of choices) {
  choice.addEventListener("click", () => {
    const isPause = choice.dataset.pace === "paused";
    if (!isPause) localStorage.setItem("pace", choice.dataset.pace);
    pause(isPause ? "yes" : "no");
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
document.addEventListener("live:toggle", () => pause(isPaused() ? "no" : "yes"));
document.addEventListener("visibilitychange", startAnew);
window.addEventListener("storage", startAnew); // another tab chose
document.addEventListener("DOMContentLoaded", start); // parts answer to hints from then on
