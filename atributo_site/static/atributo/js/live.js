// One stream of hints per tab: each part that a hint concerns fetches itself again; the server
// sends at most one a second. Without the stream, and for what the time alone changes, the clock
// does it. <section id="x" data-live="instance queue:mail" …>: those topics; an empty value means
// all; "=job:5" that job alone, not every hint about jobs.
const STREAM = `${document.body.dataset.stream}?hints=yes`;
const LEAST_PAUSE_MS = 1000;
const ASK_AGAIN_MS = [1000, 30000]; // after a refusal, which the browser takes for the last word
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
let generation = document.body.dataset.generation ?? ""; // of the last hint that it knows
let shared = ""; // the generation of the hint that is being followed, which others follow, too
let refusals = 0;
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
  menu.querySelector("[data-live-word]").textContent = SAID[state] ?? `${pace()}s`;
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

// A part that is being fetched or replaced is asked for again afterwards: htmx would drop a second
// request together with the element that the first one replaces, and does not know the new element
// before it has settled.
const IN_BETWEEN = ["htmx-request", "htmx-settling", "htmx-added"];
const isInBetween = (part) => IN_BETWEEN.some((name) => part.classList.contains(name));

function refresh() {
  waiting = null;
  lastAt = Date.now();
  for (const part of parts().filter((each) => stale.has(each.id))) {
    if (isInBetween(part)) continue;
    stale.delete(part.id);
    if (!isBusy(part)) window.htmx?.trigger(part, "refresh");
  }
}

function refreshSoon() {
  waiting ??= setTimeout(refresh, Math.max(0, lastAt + LEAST_PAUSE_MS - Date.now()));
}

for (const end of ["htmx:afterRequest", "htmx:afterSettle"]) {
  document.addEventListener(end, () => {
    if (stale.size > 0) refreshSoon();
  });
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

// A hint may name a kind ("job") for all of its subjects.
function matches(topic, subject) {
  if (topic.startsWith("=")) return subject === topic.slice(1);
  return subject === topic || subject.startsWith(`${topic}:`) || topic.startsWith(`${subject}:`);
}

function concerns(part, subject) {
  const topics = part.dataset.live.split(" ").filter(Boolean);
  return subject === null || topics.length === 0 || topics.some((topic) => matches(topic, subject));
}

// All pages that follow one hint share one answer for each address.
document.addEventListener("htmx:configRequest", (event) => {
  if (shared && event.detail.elt.matches("[data-live]")) event.detail.headers["X-Live"] = shared;
});

function follow(message) {
  const hinted = JSON.parse(message.data);
  since = message.lastEventId || since;
  if (hinted.generation === generation) return;
  generation = hinted.generation;
  const subjects = hinted.subjects.length > 0 ? hinted.subjects : [null];
  for (const part of parts()) {
    if (subjects.some((subject) => concerns(part, subject))) stale.add(part.id);
  }
  clearTimeout(waiting);
  shared = generation;
  refresh();
  shared = "";
}

function hint(subject = null) {
  for (const part of parts()) if (concerns(part, subject)) stale.add(part.id);
  if (stale.size > 0) refreshSoon();
}

function start() {
  if (isPaused()) return enter("paused");
  if (document.hidden || source || parts().length === 0) return;
  if (pace() > 0) return enter("paced");
  enter("polling");
  source = new EventSource(since ? `${STREAM}&last_event_id=${encodeURIComponent(since)}` : STREAM);
  source.onopen = () => {
    refusals = 0;
    enter("live");
  };
  source.onerror = lose;
  source.onmessage = (message) => learn(message, JSON.parse(message.data).subject);
  source.addEventListener("hint", follow);
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
  const [least, most] = ASK_AGAIN_MS;
  again = setTimeout(start, Math.min(most, least * 2 ** refusals) * (0.75 + Math.random() / 2));
  refusals += 1;
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
