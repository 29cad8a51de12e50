// The search box of jobs completes its last term: first the name of a qualifier, then what the page
// knows of it. The list offers whole texts, so that what stands before the term stays.
const TERM = /[^\s"]*"[^"]*(?:"|$)|\S+/g;
const MOST = 20;

function lastTerm(text) {
  const last = [...text.matchAll(TERM)].at(-1);
  return last && last.index + last[0].length === text.length ? last[0] : "";
}

function completeIn(field) {
  const list = field.list;
  const names = field.dataset.complete.split(" ").map((name) => `${name}:`);
  const values = [...list.options].map((option) => option.value);

  field.addEventListener("input", () => {
    const term = lastTerm(field.value);
    const before = field.value.slice(0, field.value.length - term.length);
    const fitting = (term.includes(":") ? values : names)
      .filter((text) => text.startsWith(term) && text !== term)
      .slice(0, MOST);
    list.replaceChildren(...fitting.map((text) => new Option("", before + text)));
  });
}

for (const field of document.querySelectorAll("input[data-complete][list]")) completeIn(field);
