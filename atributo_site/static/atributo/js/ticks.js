// A box with data-tick-all="job" ticks every box of that name in its form, and shows how many are.
const boxes = (all) => [...all.form.querySelectorAll(`input[name="${all.dataset.tickAll}"]`)];

function follow(all) {
  const states = boxes(all).map((box) => box.checked);
  all.checked = states.length > 0 && states.every(Boolean);
  all.indeterminate = !all.checked && states.some(Boolean);
}

document.addEventListener("change", (event) => {
  const changed = event.target;
  if (changed.matches("[data-tick-all]")) {
    for (const box of boxes(changed)) box.checked = changed.checked;
  }
  const all = changed.form?.querySelector("[data-tick-all]");
  if (all) follow(all);
});

// Whoever comes back finds the ticks that the browser kept.
window.addEventListener("pageshow", () => {
  for (const all of document.querySelectorAll("[data-tick-all]")) follow(all);
});
