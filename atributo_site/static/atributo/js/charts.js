// Charts of all queues or one. The points come with the page, and where a click on a bar leads.
const HEIGHT = 104;
const drawn = new Map(); // figure → its plot

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const resolved = (name) => {
  const probe = document.createElement("i"); // light-dark() is not resolved in a variable
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

// As the server says durations.
function said(ms) {
  if (ms == null) return "–";
  if (ms < 999.5) return `${Math.round(ms)}ms`;
  return ms < 9950 ? `${(ms / 1000).toFixed(1).replace(".0", "")}s` : window.twoUnits(Math.floor(Math.max(ms / 1000, 10)));
}

const drawable = (ms) => (ms == null ? null : Math.max(ms, LEAST_MS));

function axis(values) {
  return {
    stroke: resolved("--muted"),
    font: `12px ${colour("--sans")}`,
    grid: { stroke: resolved("--line"), width: 1 },
    ticks: { show: false },
    ...values,
  };
}

// Slices of a day are those of UTC: elsewhere a bar would stand between two dates.
const DAY = 86400;
const zone = (points) => (points.slice < DAY ? {} : { timeZone: "UTC" });
const TIME = { hour: "2-digit", minute: "2-digit", hour12: false };

// Times of the day; with days between the ticks the day, and for slices of a day its month.
function ticked(points, ticks) {
  const days = ticks.length > 1 && ticks[1] - ticks[0] >= DAY;
  const day = points.slice < DAY ? { weekday: "short", day: "numeric" } : { day: "numeric", month: "short" };
  return ticks.map((at) => new Date(at * 1000).toLocaleString("en-GB", { ...(days ? day : TIME), ...zone(points) }));
}

function when(points, at) {
  const moment = new Date(at * 1000);
  return points.slice < DAY ? moment.toLocaleString("en-GB") : `${moment.toLocaleDateString("en-GB", zone(points))} UTC`;
}

// What the legend says while the pointer is elsewhere.
const total = (values) => values.reduce((sum, each) => sum + each, 0);
const newest = (values) => values.findLast((each) => each != null);

function throughput(points) {
  const bars = window.uPlot.paths.bars({ size: [0.8, 40], align: 1 });
  const sums = points.complete.map((count, place) => count + points.failed[place]);
  const series = (label, tone, values) => ({
    label, paths: bars, points: { show: false }, width: 0, fill: resolved(tone),
    value: (plot, _, series, place) => (place == null ? total(values) : values[place]).toLocaleString("en"),
  });
  return {
    data: [points.at, sums, points.complete],
    series: [series("attempts failed", "--bad", points.failed), series("runs complete", "--accent", points.complete)],
    axis: { size: 44 },
    scale: { range: (plot, low, high) => [0, Math.max(high, 1) * 1.1] },
    nowhere: "whole period",
  };
}

// From milliseconds to hours: on an even scale one slow minute would flatten all others.
const MARKS = [1, 10, 100, 1000, 10000, 60000, 600000, 3600000, 36000000];
const LEAST_MS = 1;

function between(low, high) {
  const first = MARKS.findLast((mark) => mark <= (low ?? 1)) ?? MARKS[0];
  const last = MARKS.find((mark) => mark >= (high ?? 1)) ?? high;
  return first === last ? [first, first * 10] : [first, last];
}

function times(points, kind) {
  const series = (name, tone, width) => ({
    label: name, stroke: resolved(tone), width, spanGaps: false,
    value: (plot, ms, place, at) => said(at == null ? newest(plot.data[place]) : ms),
  });
  return {
    data: [points.at, ...["p50", "p95", "p99"].map((name) => points[`${kind}_${name}`].map(drawable))],
    series: [series("p50", "--accent", 2), series("p95", "--warn", 1.5), series("p99", "--bad", 1)],
    axis: { size: 60, splits: (plot, _, low, high) => MARKS.filter((mark) => mark >= low && mark <= high), filter: (plot, ticks) => ticks, values: (plot, ticks) => ticks.map(said) },
    scale: { distr: 3, range: (plot, low, high) => between(low, high) },
    nowhere: "newest",
  };
}

// Not every bar has jobs to list: attempts that were retried have ended none.
function opens(plot, points) {
  const there = (place) => points.urls[place ?? -1] || "";
  plot.over.addEventListener("mousemove", () => plot.over.classList.toggle("opens", !!there(plot.cursor.idx)));
  plot.over.addEventListener("click", () => there(plot.cursor.idx) && window.location.assign(there(plot.cursor.idx)));
}

function draw(figure, points) {
  const box = figure.querySelector(".chart-draw");
  const kind = figure.dataset.chart;
  const made = kind === "throughput" ? throughput(points) : times(points, kind);
  drawn.get(figure)?.destroy();
  box.replaceChildren();
  const plot = new window.uPlot({
    width: box.clientWidth, height: HEIGHT,
    cursor: { drag: { setScale: false, x: false, y: false } },
    scales: { x: { range: (plot, first, last) => [first, last + points.slice] }, y: made.scale },
    tzDate: (at) => (points.slice < DAY ? new Date(at * 1000) : window.uPlot.tzDate(new Date(at * 1000), "Etc/UTC")),
    series: [{ label: "Time", value: (plot, at) => (at == null ? made.nowhere : when(points, at)) }, ...made.series],
    axes: [axis({ size: 28, values: (plot, ticks) => ticked(points, ticks) }), axis(made.axis)],
  }, made.data, box);
  if (kind === "throughput") opens(plot, points);
  drawn.set(figure, plot);
}

// The library remembers each plot until it is told otherwise: a page that stays open would grow.
function forget(figure) {
  drawn.get(figure).destroy();
  drawn.delete(figure);
}

function drawAll() {
  const source = document.getElementById("chart-points");
  if (!source || !window.uPlot) return;
  const points = JSON.parse(source.textContent);
  for (const figure of drawn.keys()) if (!figure.isConnected) forget(figure);
  for (const figure of document.querySelectorAll("[data-chart]")) draw(figure, points);
}

drawAll();
document.addEventListener("htmx:afterSettle", drawAll);
new MutationObserver(drawAll).observe(document.documentElement, { attributeFilter: ["data-theme"] });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
let resized = null;
window.addEventListener("resize", () => {
  clearTimeout(resized);
  resized = setTimeout(drawAll, 150);
});
