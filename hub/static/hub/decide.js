// Decisions on the findings of a review, on its own page: by buttons, or by the keys of the reviewer's desk.
"use strict";

(() => {
  const STATES = { a: "accepted", r: "rejected", f: "fixed", o: "open" };
  const FORMS = { w: "waive", c: "comment" };
  const MOST_UNDONE = 100;
  const KEYS = "jku" + Object.keys({ ...STATES, ...FORMS }).join("");
  const pressed = []; // the keys that were pressed while something was saved; they are for what comes after it
  let saving = 0;
  const done = []; // what was decided here, the last one last, with what was there before
  const findings = () => [...document.querySelectorAll("article[data-state]")];
  const current = () => document.querySelector("article[data-state][aria-current]");

  function say(...parts) {
    document.getElementById("decided").replaceChildren(...parts);
  }

  function choose(finding) {
    current()?.removeAttribute("aria-current");
    finding.setAttribute("aria-current", "true");
    finding.focus({ preventScroll: true });
    finding.scrollIntoView({ block: "nearest" });
  }

  function move(step) {
    const all = findings();
    const at = all.indexOf(current());
    if (all.length) choose(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)]);
  }

  // Goes on to the next finding that is to be decided, from the top again after the last one.
  function goOn(from) {
    const all = findings();
    const at = all.indexOf(from);
    const next = [...all.slice(at + 1), ...all.slice(0, at)].find((one) => one.dataset.state === "open");
    choose(next || from);
    if (!next && from.dataset.state !== "open") say(document.getElementById("decided").dataset.nothingLeft);
  }

  // Sends what is asked of a finding, and puts it in again as it is now, with the verdict and the counts of the review.
  // Returns the finding as it is now if that was done. What was refused comes back with the reason and what was typed.
  async function send(finding, address, given) {
    const texts = document.getElementById("texts").dataset;
    let answer;
    let page;
    try {
      answer = await fetch(address, { method: "POST", body: given, headers: { "X-Requested-With": "fetch" } });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      return say(texts.failed);
    }
    if (answer.redirected) return say(texts.ended, " ", signInLink());
    const refusal = page.querySelector("[role=alert]")?.textContent; // it moves out of the page with its finding
    const now = page.getElementById(finding.id);
    if (now) {
      document.getElementById("review-state").replaceWith(page.getElementById("review-state"));
      finding.replaceWith(now);
      choose(now);
    }
    if (answer.ok && now) {
      say(document.getElementById("decided").dataset.saved);
      return now;
    }
    return say(refusal ?? texts.failed);
  }

  // Saves something, and then does what was pressed meanwhile: nothing of it after a refusal, which it did not expect.
  async function whileKeysWait(save) {
    saving += 1;
    const isSaved = await save();
    saving -= 1;
    if (!isSaved) pressed.length = 0;
    while (!saving && pressed.length) obey(pressed.shift());
  }

  document.addEventListener("submit", (event) => {
    const form = event.target.closest("[data-decide]");
    if (!form) return;
    event.preventDefault();
    whileKeysWait(() => decide(form, event.submitter));
  });

  // Returns whether it was saved.
  async function decide(form, button) {
    const finding = form.closest("article");
    const { id, dataset } = finding;
    const before = { triage: dataset.state, reason: dataset.reason, expires_at: dataset.ends };
    const given = new FormData(form, button);
    const now = await send(finding, form.action, given);
    if (!now || !given.get("triage")) return Boolean(now);
    done.push({ id, before });
    if (done.length > MOST_UNDONE) done.shift();
    if (given.get("triage") !== "open") goOn(now);
    return true;
  }

  // Returns whether something was undone.
  async function undo() {
    const last = done.pop();
    if (!last) {
      say(document.getElementById("decided").dataset.nothingToUndo);
      return false;
    }
    const finding = document.getElementById(last.id);
    const form = finding.querySelector("[data-decide]");
    const given = new FormData(form);
    for (const [name, value] of Object.entries(last.before)) given.set(name, value);
    return Boolean(await send(finding, form.action, given));
  }

  // Does what one of KEYS asks for. What is pressed after a key that opens a form is text, and no key of the desk.
  function obey(key) {
    if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
    else if (key === "u") whileKeysWait(undo);
    else if (!current()) return;
    else if (key in STATES) current().querySelector(`[value=${STATES[key]}]`).click();
    else {
      const form = document.getElementById(`${current().id}-${FORMS[key]}`);
      form.closest("details").open = true;
      form.querySelector("textarea").focus();
      pressed.length = 0;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || document.querySelector("dialog[open]") || !findings().length) return;
    if (event.target.matches("input, select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.target.form?.requestSubmit();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.repeat && !"jk".includes(event.key)) return; // a key that is held decides once
    if (!KEYS.includes(event.key)) return;
    if (saving) pressed.push(event.key);
    else obey(event.key);
    event.preventDefault();
  });

  document.addEventListener("focusin", (event) => {
    const finding = event.target.closest("article[data-state]");
    if (!finding || finding === current()) return;
    current()?.removeAttribute("aria-current");
    finding.setAttribute("aria-current", "true");
  });
})();
