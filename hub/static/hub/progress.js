// Moves the bars of documents and reviews that are being worked on, until they are done.
"use strict";

(() => {
  const INTERVAL_MS = 2000;

  function show(element, state) {
    const badge = element.querySelector(".hub-badge");
    const bar = element.querySelector("progress");
    if (badge) badge.textContent = state.label;
    if (bar) bar.value = state.progress;
    if (!state.done) return;
    if ("progressReload" in element.dataset) {
      window.location.reload();
      return;
    }
    if (bar) bar.remove();
    if (badge) badge.className = `hub-badge hub-badge-${state.status === "failed" ? "bad" : "good"}`;
    element.removeAttribute("data-progress-of");
  }

  async function poll(url) {
    const elements = [...document.querySelectorAll("[data-progress-of]")];
    if (elements.length === 0) return;
    const numbers = elements.map((element) => element.dataset.progressOf).join(",");
    try {
      const response = await fetch(`${url}?of=${numbers}`, { headers: { Accept: "application/json" } });
      if (response.redirected || !response.ok) return;
      const states = await response.json();
      for (const element of elements) {
        const state = states[element.dataset.progressOf];
        if (state) show(element, state);
      }
    } catch (error) {
      console.warn("progress:", error); // the hub may be restarting: ask again
    }
    window.setTimeout(poll, INTERVAL_MS, url);
  }

  document.addEventListener("DOMContentLoaded", () => {
    const first = document.querySelector("[data-progress-of]");
    if (!first) return;
    // in a list the JSON view stands beside the list's own address
    poll(first.dataset.progressUrl || new URL("progress/", window.location.href).pathname);
  });
})();

// A form that is sent once: what its answer shows is not shown again.
document.addEventListener("submit", (event) => {
  const form = event.target.closest("form[data-once]");
  if (form) for (const button of form.querySelectorAll("[type=submit]")) setTimeout(() => (button.disabled = true));
});
