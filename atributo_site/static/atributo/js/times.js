// Relative times stay true while the page is open; the local time joins UTC on hover.
const given = Date.parse(document.body.dataset.now);
const offset = Number.isNaN(given) ? 0 : given - Date.now(); // the server's clock is the true one
const UNITS = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];

function ago(seconds) {
  if (Math.abs(seconds) < 2) return "just now";
  const whole = Math.floor(Math.abs(seconds));
  const [name, size] = UNITS.find(([, size]) => whole >= size);
  const said = `${Math.floor(whole / size)}${name}`;
  return seconds > 0 ? `${said} ago` : `in ${said}`;
}

// What was ahead is due, not past, while somebody who types keeps the list from changing.
function arrive(root) {
  for (const ahead of root.querySelectorAll("[data-upcoming]")) {
    const first = ahead.querySelector("time");
    if (first && Date.parse(first.dateTime) <= Date.now() + offset) ahead.textContent = "due now";
  }
}

// Runs of a schedule are shown in its zone and in that of whoever looks.
const FULL = { weekday: "short", year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hour12: false };

function localize(root) {
  for (const time of root.querySelectorAll("time[data-yours]:not([title])")) {
    time.title = time.textContent;
    const at = new Date(time.dateTime);
    const exact = at.getSeconds() ? { ...FULL, second: "2-digit" } : FULL;
    time.textContent = at.toLocaleString(undefined, exact);
  }
}

// As the server says durations: the two largest units that matter.
function twoUnits(seconds) {
  const place = UNITS.findIndex(([, size]) => seconds >= size);
  const [name, size] = UNITS[place];
  const [smaller, least] = UNITS[place + 1] ?? ["", size];
  const more = Math.floor((seconds % size) / least);
  return `${Math.floor(seconds / size)}${name}${more ? `${more}${smaller}` : ""}`;
}

// What waits grows older, and so does a heartbeat, until the next hint brings another one.
function grow(root = document) {
  for (const age of root.querySelectorAll("[data-age]")) {
    age.dataset.from ??= Date.now() - 1000 * age.dataset.age;
    const seconds = Math.floor((Date.now() - age.dataset.from) / 1000);
    if (seconds > age.dataset.age) age.textContent = `${twoUnits(seconds)} ${age.dataset.after}`.trim();
  }
}

function update(root = document) {
  arrive(root);
  localize(root);
  for (const time of root.querySelectorAll("time[data-relative]")) {
    const at = new Date(time.dateTime);
    time.textContent = ago((Date.now() + offset - at) / 1000);
    if (!time.dataset.local) {
      time.dataset.local = at.toLocaleString();
      time.title = `${time.title} · ${time.dataset.local} local`;
    }
  }
}

update();
grow();
setInterval(update, 5000, document);
setInterval(grow, 1000);
document.addEventListener("htmx:afterSettle", (event) => {
  update(event.target);
  grow(event.target);
});
window.twoUnits = twoUnits;
