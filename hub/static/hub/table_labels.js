// On narrow pages a table has no head: each cell says the name of its column itself.
"use strict";

addEventListener("DOMContentLoaded", () => {
  for (const table of document.querySelectorAll("table.hub-table")) {
    const names = [...table.querySelectorAll(":scope > thead th")].map((head) => head.textContent.trim());
    for (const row of table.querySelectorAll(":scope > tbody > tr")) {
      if (row.cells.length !== names.length) continue; // a line about the whole table
      [...row.cells].forEach((cell, at) => {
        if (at && names[at] && cell.textContent.trim() && !cell.dataset.label) cell.dataset.label = names[at];
      });
    }
  }
});
