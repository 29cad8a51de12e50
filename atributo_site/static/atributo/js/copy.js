// A button with data-copy puts that text on the clipboard and says so.
// Browsers have no clipboard for pages that came by plain HTTP from another machine: those get the
// text through a field that is selected for a moment.
function copySelected(text) {
  const field = document.createElement("textarea");
  field.className = "hidden-label";
  field.value = text;
  document.body.append(field);
  field.select();
  const copied = document.execCommand("copy");
  field.remove();
  return copied;
}

async function copied(text) {
  if (!navigator.clipboard) return copySelected(text);
  return navigator.clipboard.writeText(text).then(() => true, () => copySelected(text));
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button || !(await copied(button.dataset.copy))) return;
  button.classList.add("is-done");
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => {
    button.classList.remove("is-done");
    button.setAttribute("aria-label", label);
  }, 1500);
  button.focus();
});
