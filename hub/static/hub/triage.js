// The reviewer's desk: findings and checks in one order, one key decides, the next open one is shown. Nothing reloads.
"use strict";

(() => {
  const page = document.getElementById("hub-triage");
  const detail = document.getElementById("hub-triage-detail");
  const toast = document.getElementById("hub-triage-message");
  const ask = document.getElementById("hub-triage-ask");
  const keys = document.getElementById("hub-triage-keys");
  const goesOn = document.getElementById("hub-triage-advance");
  const rows = [...page.querySelectorAll(".hub-triage-row[data-state]")];
  const STATES = { a: "accepted", r: "rejected", f: "fixed", o: "open" };
  const VERDICTS = { 1: "pass", 2: "warning", 3: "fail", 4: "not_applicable" };
  const LEFT_BY_ENTER = "#hub-triage-reason, [data-triage-due]";
  const FIELDS = ["#hub-triage-reason", "[data-triage-due]", "[data-triage-assignee]"];
  const MOST_UNDONE = 100;
  const WAIT_FOR_ORIGINAL_MS = 250; // who runs through the rows asks for no picture
  const done = []; // what was decided here, the last one last: each knows how it is taken back
  // What was typed and refused, by the row's id and what it was for: it outlives the page, which may be loaded again.
  const UNSENT = `hub-triage-unsent:${page.dataset.person}:${window.location.pathname}`;
  const unsent = JSON.parse(window.sessionStorage.getItem(UNSENT) || "{}");
  let current = null;
  // with a signature that was asked for; it stays where that was refused
  let remark = window.sessionStorage.getItem(`${UNSENT}:sign-off`) || "";

  const mayAct = () => "mayAct" in page.dataset;
  const idOf = (row) => row.dataset.findingId || row.dataset.checkId;
  const isCheck = (row) => "checkId" in row.dataset;
  const isOpen = (row) => ["open", "skipped", "error"].includes(row.dataset.state);
  const rowOf = (id) => rows.find((row) => idOf(row) === id);

  function say(text, failed = false) {
    toast.textContent = text;
    toast.classList.toggle("hub-error", failed);
    toast.classList.add("hub-triage-told");
    window.clearTimeout(say.timer);
    say.timer = window.setTimeout(() => toast.classList.remove("hub-triage-told"), failed ? 10000 : 2000);
  }

  let isFilling = false;

  // Keeps what was typed for the rows that were not saved, and forgets it of those that were.
  function noteUnsent(kind, typed, targets, answer) {
    const left = answer ? overtakenOf(answer) : targets;
    for (const row of targets) {
      const { [kind]: _before, ...others } = unsent[idOf(row)] || {};
      unsent[idOf(row)] = left.includes(row) && typed.text ? { ...others, [kind]: typed } : others;
    }
    try {
      window.sessionStorage.setItem(UNSENT, JSON.stringify(unsent));
    } catch (error) {
      // A full store keeps nothing over loading the page again; on this page it is kept, and what was saved is shown.
      console.warn(error);
    }
  }

  const unsentOf = (row, kind) => (row && unsent[idOf(row)]?.[kind]) || { text: "", day: "" };

  // Puts back the reason that was typed for a check whose verdict was refused, unless another one is typed. It is of
  // this check alone, and goes when another row is shown.
  function bringBackReason(row) {
    const reason = document.getElementById("hub-triage-reason");
    if (!reason) return;
    if (reason.dataset.of && reason.dataset.of !== idOf(row) && reason.value === reason.dataset.text) reason.value = "";
    const { text } = unsentOf(row, "reason");
    const isBack = isCheck(row) && text && (!reason.value || reason.dataset.of === idOf(row));
    if (isBack && !reason.value) reason.value = text;
    [reason.dataset.of, reason.dataset.text] = isBack ? [idOf(row), text] : ["", ""];
  }

  // Puts a row into the detail; what is typed there while the same row is fetched again stays, with the cursor.
  function fill(html, row) {
    const held = detail.dataset.shown === idOf(row) ? document.activeElement : null;
    const name = held && detail.contains(held) ? FIELDS.find((one) => held.matches(one)) : null;
    const typed = name && held.value !== held.defaultValue ? held.value : null;
    isFilling = true; // a field that is replaced loses the focus, and is not left by anybody
    detail.innerHTML = html;
    isFilling = false;
    detail.dataset.shown = idOf(row);
    const field = name ? detail.querySelector(name) : null;
    if (!field) {
      detail.scrollTop = 0;
      return;
    }
    if (typed !== null && "defaultValue" in field) field.value = typed;
    field.focus({ preventScroll: true });
  }

  // Shows a row beside the list: its part of the page, made and escaped by the server.
  async function show(row, { scroll = true } = {}) {
    if (!row) return;
    if (current) current.removeAttribute("aria-current");
    current = row;
    row.setAttribute("aria-current", "true");
    if (scroll) row.scrollIntoView({ block: "nearest" });
    // while the page is still loading, the browser would scroll to it
    if (document.readyState === "complete") window.history.replaceState(null, "", `#${row.id}`);
    const address = row.querySelector(".hub-triage-link").href;
    const response = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
    const html = await response.text();
    if (current !== row) return; // another one was chosen meanwhile
    bringBackReason(row);
    if (!response.ok || response.redirected) {
      say(page.dataset.failed, true);
      return;
    }
    fill(html, row);
    const mark = detail.querySelector(".hub-passage mark");
    if (mark) {
      const passage = mark.closest(".hub-passage");
      passage.scrollTop += mark.getBoundingClientRect().top - passage.getBoundingClientRect().top - 80;
    }
    window.clearTimeout(show.timer);
    show.timer = window.setTimeout(showOriginal, WAIT_FOR_ORIGINAL_MS);
  }

  // Puts the page or sheet of the original below the passage, with the words marked.
  async function showOriginal() {
    const place = detail.querySelector("[data-original]");
    if (!place) return;
    const response = await fetch(place.dataset.original, { headers: { "X-Requested-With": "fetch" } });
    if (!place.isConnected) return;
    if (!response.ok || response.redirected) {
      place.textContent = place.dataset.failed;
      return;
    }
    place.innerHTML = await response.text();
    const marked = place.querySelector("rect, .cited");
    const box = marked && marked.closest("figure > div");
    if (!box) return;
    const image = box.querySelector("img");
    const center = () => {
      box.scrollTop += marked.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
    };
    if (image && !image.complete) image.addEventListener("load", center, { once: true });
    else center();
  }

  function move(step) {
    const at = rows.indexOf(current);
    show(rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)]);
  }

  // Goes on to the next row that is to be decided, from the top again after the last one.
  function goOn() {
    const at = rows.indexOf(current);
    const next = [...rows.slice(at + 1), ...rows.slice(0, at)].find(isOpen);
    if (next && goesOn.checked) show(next);
    else show(current, { scroll: false });
    if (!next && !isOpen(current)) say(page.dataset.nothingLeft);
  }

  const chosen = (kind) => rows.filter((row) => isCheck(row) === (kind === "check") && row.querySelector("input:checked"));

  function countChosen() {
    for (const place of page.querySelectorAll("[data-chosen-of]")) {
      place.textContent = String(chosen(place.dataset.chosenOf).length || "");
    }
  }

  // What a key or a button means: the rows that are chosen, or the one that is shown.
  function targetsOf(kind) {
    const many = chosen(kind);
    if (many.length) return many;
    return current && isCheck(current) === (kind === "check") ? [current] : [];
  }

  function update(state) {
    const row = rowOf(state.id);
    if (!row) return;
    row.dataset.state = state.state;
    row.dataset.revision = state.revision;
    const badge = row.querySelector("[data-state-badge] .hub-badge");
    badge.textContent = state.label;
    badge.className = `hub-badge hub-badge-${state.kind}`;
    if (isCheck(row)) return;
    row.dataset.reason = state.reason;
    row.dataset.expiresAt = state.expires_at;
    row.querySelector("[data-assignee]").textContent = state.assignee;
    row.querySelector("[data-due]").innerHTML = state.due;
  }

  function showDesk(desk) {
    document.getElementById("hub-desk-counts").innerHTML = desk.counts;
    document.getElementById("hub-desk-left").innerHTML = desk.left;
    document.getElementById("hub-sign-off-panel").innerHTML = desk.sign_off;
    document.getElementById("hub-desk-verdict").innerHTML = desk.verdict;
    if (!desk.may_act) page.removeAttribute("data-may-act");
    bringBackRemark();
  }

  function bringBackRemark() {
    const form = document.querySelector("[data-sign-off-form]");
    if (form) form.elements.comment.value = remark;
  }

  // Sends something to be changed; gives the answer, or null after saying why there is none. What somebody else was
  // faster with is said, too, and shown as it is now.
  async function post(address, body) {
    const response = await fetch(address, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-CSRFToken": document.querySelector("[name=csrfmiddlewaretoken]").value,
      },
      body: JSON.stringify(body),
    }).catch(() => null);
    if (!response || response.redirected || !(response.headers.get("Content-Type") || "").includes("json")) {
      say(page.dataset.failed, true);
      return null;
    }
    const answer = await response.json();
    for (const state of [...(answer.findings || []), ...(answer.checks || [])]) update(state);
    if (answer.desk) showDesk(answer.desk);
    if (answer.error || answer.overtaken) say(answer.error || answer.overtaken.text, true);
    const overtaken = overtakenOf(answer);
    unchoose(overtaken);
    if (overtaken.length) show(overtaken[0]);
    return answer.error ? null : answer;
  }

  // The rows that somebody else was faster with.
  const overtakenOf = (answer) => (answer.overtaken ? answer.overtaken.rows.map((id) => document.getElementById(id)) : []);

  // Remembers how what was saved is taken back, and goes on unless somebody else was faster with a row.
  function settle(answer, targets, takeBack, isDecided) {
    const overtaken = overtakenOf(answer);
    const saved = targets.filter((row) => !overtaken.includes(row));
    unchoose(saved);
    if (takeBack) remember(saved, () => takeBack(saved));
    if (overtaken.length) return;
    say(page.dataset.saved);
    if (isDecided) goOn();
    else show(current, { scroll: false });
  }

  function unchoose(targets) {
    for (const row of targets) row.querySelector("input").checked = false;
    countChosen();
  }

  const changeOf = (targets, change) => ({
    ...change,
    finding_ids: targets.map(idOf),
    revisions: targets.map((row) => Number(row.dataset.revision)),
  });
  const seen = (targets) => targets.map((row) => ({ id: idOf(row), revision: Number(row.dataset.revision) }));

  function remember(targets, takeBack) {
    done.push({ targets, takeBack });
    if (done.length > MOST_UNDONE) done.shift();
  }

  async function save(targets, change, typed = null) {
    if (!mayAct() || !targets.length) return;
    const before = new Map(targets.map((row) => [row, { ...row.dataset }]));
    const answer = await post(page.dataset.save, changeOf(targets, change));
    if (typed) noteUnsent(typed.kind, typed, targets, answer);
    if (!answer) return;
    const takeBack = async (saved) => {
      for (const row of saved) {
        const { state, reason, expiresAt } = before.get(row);
        const again = await post(page.dataset.save, changeOf([row], { triage: state, reason, expires_at: expiresAt || null }));
        if (!again) return false;
      }
      return true;
    };
    settle(answer, targets, change.triage && takeBack, change.triage && change.triage !== "open");
  }

  async function decide(targets, verdict) {
    if (!mayAct() || !targets.length) return;
    const given = document.getElementById("hub-triage-reason");
    const answer = await post(page.dataset.decide, { checks: seen(targets), verdict, reason: given.value });
    noteUnsent("reason", { text: given.value }, targets, answer);
    if (!answer) return;
    settle(answer, targets, async (saved) => {
      const again = await post(page.dataset.takeBack, { checks: seen(saved) });
      return Boolean(again && !again.overtaken);
    }, true);
  }

  async function undo() {
    const last = done.pop();
    if (!mayAct() || !last) {
      say(page.dataset.nothingToUndo);
      return;
    }
    if (await last.takeBack()) say(page.dataset.takenBack);
    show(last.targets[0]);
  }

  async function keep(what) {
    const dataset = document.getElementById("hub-triage-dataset");
    if (!mayAct() || !dataset) return;
    const answer = await post(page.dataset.keep, { dataset: dataset.value, ...what });
    if (answer) say(answer.message);
  }

  const keepFindings = (targets) => targets.length && keep({ finding_ids: targets.map(idOf) });

  function askFor(kind, targets) {
    const text = document.getElementById("hub-ask-text");
    const day = document.getElementById("hub-ask-day");
    const title = document.getElementById("hub-ask-title");
    title.textContent = title.dataset[kind];
    const before = targets.length === 1 ? unsentOf(targets[0], kind) : { text: "", day: "" };
    [text.value, day.value] = [before.text, before.day];
    day.required = kind === "waive";
    document.getElementById("hub-ask-day-field").hidden = kind !== "waive";
    ask.returnValue = "";
    ask.onclose = () => {
      if (ask.returnValue !== "ok") return;
      const change =
        kind === "waive"
          ? { triage: "waived", reason: text.value, expires_at: day.value }
          : { comment: text.value };
      save(targets, change, { kind, text: text.value, day: day.value });
    };
    ask.showModal();
    text.focus();
  }

  // The sign-off: asked once more, with what it freezes; without it what stands in the way is shown.
  function askToSign() {
    const dialog = document.getElementById("hub-sign-off-ask");
    if (dialog) dialog.showModal();
    else document.getElementById("hub-sign-off").scrollIntoView({ block: "center" });
  }

  async function sign(form) {
    remark = form.elements.comment.value;
    const answer = await post(form.action, { comment: remark, revision: form.elements.revision.value });
    window.sessionStorage.setItem(`${UNSENT}:sign-off`, answer ? "" : remark);
    if (!answer) return;
    say(answer.message);
    document.getElementById("hub-sign-off").scrollIntoView({ block: "center" });
    show(current, { scroll: false });
  }

  function act(key) {
    if (key in VERDICTS) decide(targetsOf("check"), VERDICTS[key]);
    else if (key === "u") undo();
    else if (key === "s") askToSign();
    if (!mayAct()) return;
    const targets = targetsOf("finding");
    if (!targets.length) return;
    if (key in STATES) save(targets, { triage: STATES[key] });
    else if (key === "w") askFor("waive", targets);
    else if (key === "c") askFor("comment", targets);
    else if (key === "e") keepFindings(targets);
    else if (key === "d") detail.querySelector("[data-triage-assignee]").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("dialog")) {
      const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey) && ask.contains(event.target);
      if (isSent) ask.querySelector("[value=ok]").click();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape" || (event.key === "Enter" && event.target.matches(LEFT_BY_ENTER))) event.target.blur();
      return;
    }
    if (event.key === "j" || event.key === "k") {
      event.preventDefault();
      move(event.key === "j" ? 1 : -1);
    } else if (event.key === "?") {
      event.preventDefault();
      keys.showModal();
    } else if (event.key === "x" && current && mayAct()) {
      current.querySelector("input").click();
    } else if ("arfowcedus1234".includes(event.key)) {
      event.preventDefault();
      act(event.key);
    }
  });

  page.addEventListener("click", (event) => {
    const link = event.target.closest(".hub-triage-link");
    if (link) {
      event.preventDefault();
      show(link.closest(".hub-triage-row"), { scroll: false });
      if (window.matchMedia("(max-width: 900px)").matches) detail.scrollIntoView();
      return;
    }
    const button = event.target.closest("[data-triage-key]");
    if (button) act(button.dataset.triageKey);
    const verdict = event.target.closest("[name=verdict]");
    if (verdict) decide(targetsOf("check"), verdict.value);
    if (event.target.closest("[data-triage-keep]")) keepFindings(chosen("finding"));
    const bulk = event.target.closest("[data-triage-bulk]");
    if (bulk && bulk.dataset.triageBulk === "waived") act("w");
    else if (bulk) save(targetsOf("finding"), { triage: bulk.dataset.triageBulk });
  });

  page.addEventListener("change", (event) => {
    const all = event.target.dataset.allOf;
    if (all) {
      // of the checks those that are still to be decided: a decided one is chosen by itself
      for (const row of rows) {
        if (isCheck(row) === (all === "check") && (all === "finding" || isOpen(row) || !event.target.checked)) {
          row.querySelector("input").checked = event.target.checked;
        }
      }
    }
    if (event.target.matches("[type=checkbox]")) countChosen();
    if (event.target.matches("[data-triage-assignee]")) save(targetsOf("finding"), { assignee: event.target.value });
  });

  // a day is typed in parts, each of which changes it: it counts when the field is left
  page.addEventListener("focusout", (event) => {
    const day = event.target;
    if (isFilling || !day.matches("[data-triage-due]") || day.value === day.defaultValue) return;
    day.defaultValue = day.value;
    save(targetsOf("finding"), { due_on: day.value });
  });

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-sign-off-form]");
    if (form) sign(form);
  });

  document.addEventListener("click", (event) => {
    if (event.target.closest("[data-triage-help]")) keys.showModal();
    if (event.target.closest("[data-sign-off]")) askToSign();
    if (event.target.closest("[data-dialog-close]")) event.target.closest("dialog").close();
    const item = event.target.closest("[data-triage-keep-item]");
    if (item) keep({ check_item_id: item.dataset.triageKeepItem });
    const open = event.target.closest("[data-triage-open]");
    if (open) {
      event.preventDefault();
      const row = rowOf(open.dataset.triageOpen);
      if (row) show(row).then(() => page.scrollIntoView());
    }
  });

  bringBackRemark();
  goesOn.checked = window.localStorage.getItem("hub-triage-advance") !== "off";
  goesOn.addEventListener("change", () => {
    window.localStorage.setItem("hub-triage-advance", goesOn.checked ? "on" : "off");
  });
  show(rows.find((row) => `#${row.id}` === window.location.hash) || rows[0], { scroll: false });
})();
