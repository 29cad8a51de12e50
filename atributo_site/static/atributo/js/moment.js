// Beside a field for a moment stands a calendar; what is picked is written into the field as text.
// Without this script the field takes the same text, such as "tomorrow 14:00" or 2030-01-31 12:00.
const DRAWN = '<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d="M4 6.5h16v13H4zM4 10.5h16M8.5 4v4M15.5 4v4"/></svg>';

function withCalendar(field) {
  const label = field.closest("label");
  const about = label.firstChild.textContent.trim();
  const box = document.createElement("div");
  const button = document.createElement("button");
  const calendar = document.createElement("input");
  box.className = "moment-box";
  button.type = "button";
  button.className = "moment-pick";
  button.innerHTML = DRAWN;
  button.setAttribute("aria-label", `Pick a date for ${about}`);
  calendar.type = "datetime-local";
  calendar.className = "moment-calendar";
  calendar.tabIndex = -1;
  calendar.setAttribute("aria-hidden", "true");
  label.replaceWith(box);
  box.append(label, calendar, button);
  new ResizeObserver(() => {
    for (const part of [button, calendar]) {
      part.style.top = `${field.offsetTop}px`;
      part.style.height = `${field.offsetHeight}px`;
    }
  }).observe(box);
  button.addEventListener("click", () => calendar.showPicker());
  calendar.addEventListener("change", () => {
    if (!calendar.value) return;
    field.value = calendar.value.replace("T", " ");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

for (const field of document.querySelectorAll("label input[data-moment]")) withCalendar(field);
