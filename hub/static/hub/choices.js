// Boxes that complete as one types are called what their label says: their script names them by what is chosen alone.
"use strict";

(() => {
  function nameBoxes() {
    for (const shown of document.querySelectorAll(".select2-selection__rendered[id^=select2-]")) {
      const field = document.getElementById(shown.id.slice("select2-".length, -"-container".length));
      const label = field && field.labels && field.labels[0];
      const text = (label && label.textContent.trim()) || (field && field.getAttribute("aria-label"));
      if (!text) continue;
      shown.setAttribute("aria-label", [text, shown.textContent.trim()].filter(Boolean).join(": "));
    }
    for (const box of document.querySelectorAll(".select2-selection--multiple")) {
      const field = box.closest(".select2").previousElementSibling;
      const label = field && field.labels && field.labels[0];
      const typed = box.querySelector(".select2-search__field");
      if (label && typed) typed.setAttribute("aria-label", label.textContent.trim());
    }
  }

  // Their script builds them before or after the page has loaded, and anew with each choice and each row.
  addEventListener("DOMContentLoaded", () => {
    nameBoxes();
    new MutationObserver(nameBoxes).observe(document.body, { childList: true, subtree: true });
  });
})();
