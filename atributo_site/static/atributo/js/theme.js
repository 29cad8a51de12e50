// Theme and density change at once; the form's own POST remembers them.
const root = document.documentElement;
root.classList.add("js");

document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-theme-form]");
  if (!form || !event.submitter) return;
  event.preventDefault();
  const body = new FormData(form, event.submitter);
  const { name, value } = event.submitter;
  root.dataset[name] = value;
  for (const button of form.querySelectorAll(`button[name=${name}]`)) {
    button.setAttribute("aria-pressed", String(button === event.submitter));
  }
  form.closest("details")?.removeAttribute("open");
  fetch(form.action, { method: "POST", body, redirect: "manual" });
});

// One menu at a time; a click elsewhere or Escape closes it.
const menus = () => document.querySelectorAll("details.menu[open]");
document.addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of menus()) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
