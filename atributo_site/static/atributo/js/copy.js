// A button with data-copy puts that text on the clipboard and says so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  button.classList.add("is-done");
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", "Copied");
  setTimeout(() => {
    button.classList.remove("is-done");
    button.setAttribute("aria-label", label);
  }, 1500);
});
