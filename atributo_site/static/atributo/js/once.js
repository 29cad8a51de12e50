// A form is sent once: a second click while the answer is on its way would push or run twice.
const PATIENCE_MS = 10000; // whoever stopped the browser may send it again

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (Date.now() - Number(form.dataset.sentAt ?? 0) < PATIENCE_MS) event.preventDefault();
  else form.dataset.sentAt = Date.now();
});

// Whoever comes back by the browser's button, too.
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent-at]")) delete form.dataset.sentAt;
});
