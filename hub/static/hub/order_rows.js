// Rows in an order that people give: buttons and Alt with an arrow key beside the number, for who does not drag.
"use strict";

(() => {
  const SELECTOR = "input[data-place]";
  const told = document.createElement("p");
  told.setAttribute("role", "status");
  told.className = "hub-hint";
  const rowsIn = (list) => [...list.children].filter((one) => one.matches(".form-group:not(.empty-form)") && one.querySelector(SELECTOR));

  function number(list) {
    rowsIn(list).forEach((row, at) => {
      const place = row.querySelector(SELECTOR);
      if (place.value === String(at)) return;
      place.value = at;
      place.dispatchEvent(new Event("input", { bubbles: true })); // the page asks before it is left unsaved
    });
  }

  function move(row, step) {
    const rows = rowsIn(row.parentElement);
    const at = rows.indexOf(row) + step;
    if (step < 0) rows[at]?.before(row);
    else rows[at]?.after(row);
    if (rows[at]) tell(row, at + 1, rows.length);
  }

  // Says where a row stands now, for who does not see it move.
  function tell(row, place, all) {
    const texts = row.querySelector(SELECTOR).dataset;
    told.textContent = texts.moved.replace("{place}", place).replace("{all}", all);
  }

  function button(row, text, name, step) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "hub-line-button";
    made.textContent = text;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", () => {
      move(row, step);
      made.focus();
    });
    return made;
  }

  function equip(row) {
    if (row.querySelector(".hub-order-buttons")) return;
    const place = row.querySelector(SELECTOR);
    place.addEventListener("keydown", (event) => {
      if (!event.altKey || event.isComposing || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      move(row, event.key === "ArrowUp" ? -1 : 1);
      place.focus();
    });
    const buttons = document.createElement("span");
    buttons.className = "hub-order-buttons";
    buttons.append(button(row, "↑", place.dataset.up, -1), button(row, "↓", place.dataset.down, 1));
    place.after(buttons);
  }

  addEventListener("DOMContentLoaded", () => {
    const lists = new Set([...document.querySelectorAll(SELECTOR)].map((place) => place.closest(".form-group").parentElement));
    for (const list of lists) {
      list.after(told);
      rowsIn(list).forEach(equip);
      new MutationObserver(() => {
        rowsIn(list).forEach(equip);
        number(list); // also when a row was dragged, or added
      }).observe(list, { childList: true });
    }
  });
})();
