// Rows in an order that people give: buttons and Alt with an arrow key beside the number, for who does not drag.
"use strict";

(() => {
  const SELECTOR = "input[data-place]";
  const message = document.createElement("p");
  message.setAttribute("role", "status");
  message.className = "hub-hint";
  const rowsIn = (list) => [...list.children].filter((one) => one.matches(".form-group:not(.empty-form)") && one.querySelector(SELECTOR));

  function number(list) {
    rowsIn(list).forEach((row, at) => {
      const place = row.querySelector(SELECTOR);
      const counted = String(at + 1); // as the message and people count
      if (place.value === counted) return;
      place.value = counted;
      place.dispatchEvent(new Event("input", { bubbles: true })); // the page asks before it is left unsaved
    });
  }

  function move(row, step) {
    const rows = rowsIn(row.parentElement);
    const at = rows.indexOf(row) + step;
    if (step < 0) rows[at]?.before(row);
    else rows[at]?.after(row);
  }

  // Says where the row that was moved last stands now, by whatever means, for who does not see it move.
  function announce(list, records) {
    const rows = rowsIn(list);
    const row = records.flatMap((one) => [...one.addedNodes]).findLast((one) => rows.includes(one));
    if (!row) return;
    const texts = row.querySelector(SELECTOR).dataset;
    message.textContent = texts.moved.replace("{place}", rows.indexOf(row) + 1).replace("{all}", rows.length);
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
      list.after(message);
      rowsIn(list).forEach(equip);
      new MutationObserver((records) => {
        rowsIn(list).forEach(equip);
        number(list); // also when a row was dragged, or added
        announce(list, records);
      }).observe(list, { childList: true });
    }
  });
})();
