// What a phone spoils: labels that lie over their values, and what is too small for a finger.
() => {
  const FINGER = 43.5;
  const shown = (element) => element.checkVisibility({ visibilityProperty: true });
  const covered = [...document.querySelectorAll(".table:not(.pairs) td[data-label]")].filter((cell) => {
    const label = getComputedStyle(cell, "::before");
    const room = parseFloat(getComputedStyle(cell).paddingLeft);
    const end = parseFloat(label.left) + parseFloat(label.width);
    const isApart = label.position === "absolute"; // one in the line of its value covers nothing
    return shown(cell) && label.display !== "none" && isApart && end > room;
  });
  const pressed = "a[href], button, summary, select, textarea, input:not([type=hidden])";
  const small = [...document.querySelectorAll(pressed)].filter((element) => {
    const place = element.closest("label:has(input[type=checkbox], input[type=radio])") ?? element;
    const inText = getComputedStyle(element).display === "inline";
    const aside = element.closest("svg, .skip, .hidden-label, .heat:not(.is-large)");
    return shown(element) && !inText && !aside && place.getBoundingClientRect().height < FINGER;
  });
  const words = (element) => (element.textContent.trim() || element.name || element.className).slice(0, 40);
  return [
    ...covered.map((cell) => `label over its value: ${cell.dataset.label}`),
    ...small.map((element) => `too small for a finger: ${words(element)}`),
  ];
}
