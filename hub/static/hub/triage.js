// The triage page: j and k move, one key decides, the passage is shown beside the list.
"use strict";

(() => {
  const page = document.getElementById("hub-triage");
  const detail = document.getElementById("hub-triage-detail");
  const toast = document.getElementById("hub-triage-message");
  const ask = document.getElementById("hub-triage-ask");
  const keys = document.getElementById("hub-triage-keys");
  const rows = [...page.querySelectorAll("[data-finding-id]")];
  const mayAct = "mayAct" in page.dataset;
  const STATES = { a: "accepted", r: "rejected", f: "fixed", o: "open" };
  let current = null;

  function say(text, failed = false) {
    toast.textContent = text;
    toast.classList.toggle("hub-error", failed);
    toast.classList.add("hub-triage-told");
    window.clearTimeout(say.timer);
    say.timer = window.setTimeout(() => toast.classList.remove("hub-triage-told"), failed ? 10000 : 2000);
  }

  const addressOf = (row) => page.dataset.finding.replace("FINDING", encodeURIComponent(row.dataset.findingId));

  async function show(row, { scroll = true } = {}) {
    if (!row) return;
    if (current) current.removeAttribute("aria-current");
    current = row;
    row.setAttribute("aria-current", "true");
    if (scroll) row.scrollIntoView({ block: "nearest" });
    window.history.replaceState(null, "", `#${row.dataset.findingId}`);
    const response = await fetch(addressOf(row), { headers: { "X-Requested-With": "fetch" } });
    const html = await response.text();
    if (current !== row) return; // another one was chosen meanwhile
    if (!response.ok || response.redirected) {
      say(page.dataset.failed, true);
      return;
    }
    detail.innerHTML = html; // the server's own template: all of the document's words are escaped in it
    detail.dataset.shown = row.dataset.findingId;
    const mark = detail.querySelector(".hub-passage mark");
    if (mark) {
      const passage = mark.closest(".hub-passage");
      passage.scrollTop += mark.getBoundingClientRect().top - passage.getBoundingClientRect().top - 80;
    }
  }

  function move(step) {
    const at = rows.indexOf(current);
    show(rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)]);
  }

  const chosen = () => rows.filter((row) => row.querySelector("input:checked"));

  function countChosen() {
    const number = chosen().length;
    document.getElementById("hub-triage-chosen").textContent = number ? String(number) : "";
  }

  function update(state) {
    const row = rows.find((one) => one.dataset.findingId === state.id);
    if (!row) return;
    const left = document.getElementById("hub-triage-left");
    const change = (state.triage === "open") - (row.dataset.state === "open");
    left.textContent = String(Number(left.textContent) + change);
    row.dataset.state = state.triage;
    row.dataset.revision = state.revision;
    const badge = row.querySelector("[data-state-badge] .hub-badge");
    badge.textContent = state.label;
    badge.className = `hub-badge hub-badge-${state.kind}`;
    row.querySelector("[data-assignee]").textContent = state.assignee;
  }

  async function save(targets, change) {
    if (!mayAct || !targets.length) return;
    const body = { ...change, finding_ids: targets.map((row) => row.dataset.findingId) };
    if (targets.length === 1) body.revision = Number(targets[0].dataset.revision);
    const response = await fetch(page.dataset.save, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value,
      },
      body: JSON.stringify(body),
    });
    if (response.redirected || !(response.headers.get("Content-Type") || "").includes("json")) {
      say(page.dataset.failed, true);
      return;
    }
    const answer = await response.json();
    if (answer.error) {
      say(answer.error, true);
      return;
    }
    answer.findings.forEach(update);
    say(page.dataset.saved);
    if (targets.includes(current)) await show(current, { scroll: false });
  }

  async function keep(what) {
    const dataset = document.getElementById("hub-triage-dataset");
    if (!mayAct || !dataset) return;
    const response = await fetch(page.dataset.keep, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value,
      },
      body: JSON.stringify({ dataset: dataset.value, ...what }),
    });
    if (response.redirected || !(response.headers.get("Content-Type") || "").includes("json")) {
      say(page.dataset.failed, true);
      return;
    }
    const answer = await response.json();
    say(answer.error || answer.message, Boolean(answer.error));
  }

  const keepFindings = (targets) => targets.length && keep({ finding_ids: targets.map((row) => row.dataset.findingId) });

  function askFor(kind, targets) {
    const text = document.getElementById("hub-ask-text");
    const day = document.getElementById("hub-ask-day");
    const title = document.getElementById("hub-ask-title");
    title.textContent = title.dataset[kind];
    text.value = day.value = "";
    day.required = kind === "waive";
    document.getElementById("hub-ask-day-field").hidden = kind !== "waive";
    ask.returnValue = "";
    ask.onclose = () => {
      if (ask.returnValue !== "ok") return;
      const change =
        kind === "waive"
          ? { triage: "waived", reason: text.value, expires_at: day.value }
          : { comment: text.value };
      save(targets, change);
    };
    ask.showModal();
    text.focus();
  }

  function act(key, targets) {
    if (!mayAct || !targets.length) return;
    if (key in STATES) save(targets, { triage: STATES[key] });
    else if (key === "w") askFor("waive", targets);
    else if (key === "c") askFor("comment", targets);
    else if (key === "e") keepFindings(targets);
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("dialog")) {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask.querySelector("[value=ok]").click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      move(event.key === "j" ? 1 : -1);
    } else if (event.key === "?") {
      event.preventDefault();
      keys.showModal();
    } else if (event.key === "x" && current && mayAct) {
      current.querySelector("input").click();
    } else if ("arfowce".includes(event.key) && current) {
      event.preventDefault();
      act(event.key, [current]);
    }
  });

  page.addEventListener("click", (event) => {
    const link = event.target.closest(".hub-triage-link");
    if (link) {
      event.preventDefault();
      show(link.closest("[data-finding-id]"), { scroll: false });
      if (window.matchMedia("(max-width: 900px)").matches) detail.scrollIntoView();
      return;
    }
    const button = event.target.closest("[data-triage-key]");
    if (button && current) act(button.dataset.triageKey, [current]);
    if (event.target.closest("[data-triage-keep]")) keepFindings(chosen());
    const bulk = event.target.closest("[data-triage-bulk]");
    if (bulk && bulk.dataset.triageBulk === "waived") act("w", chosen());
    else if (bulk) save(chosen(), { triage: bulk.dataset.triageBulk });
  });

  page.addEventListener("change", (event) => {
    if (event.target.matches("[data-triage-all]")) {
      for (const row of rows) row.querySelector("input").checked = event.target.checked;
    }
    if (event.target.matches("[type=checkbox]")) countChosen();
    if (event.target.matches("[data-triage-assignee]") && current) save([current], { assignee: event.target.value });
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-triage-help]")) keys.showModal();
    if (event.target.closest("[data-dialog-close]")) ask.close();
    const item = event.target.closest("[data-triage-keep-item]");
    if (item) keep({ check_item_id: item.dataset.triageKeepItem });
    const open = event.target.closest("[data-triage-open]");
    if (open) {
      event.preventDefault();
      const row = rows.find((one) => one.dataset.findingId === open.dataset.triageOpen);
      if (row) show(row).then(() => page.scrollIntoView());
    }
  });

  show(rows.find((row) => `#${row.dataset.findingId}` === window.location.hash) || rows[0], { scroll: false });
})();
