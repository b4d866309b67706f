// Decisions on a review, on its own page: on findings and checks by buttons or by the keys of the reviewer's desk, and
// the sign-off. Nothing reloads: the page as it is now is fetched, and what changed of it is put in.
"use strict";

(() => {
  const STATES = { a: "accepted", r: "rejected", f: "fixed", o: "open" };
  const VERDICTS = { 1: "pass", 2: "warning", 3: "fail", 4: "not_applicable" };
  const FORMS = { w: "waive", c: "comment" };
  const UNDECIDED = ["open", "skipped", "error"];
  const PARTS = ["review-state", "sign-off-state"]; // what every decision changes
  const MOST_UNDONE = 100;
  const KEYS = "jkusx" + Object.keys({ ...STATES, ...VERDICTS, ...FORMS }).join("");
  const pressed = []; // the keys that were pressed while something was saved; they are for what comes after it
  let saving = 0;
  const done = []; // what was decided here, the last one last: each knows how it is taken back
  const rows = () => [...document.querySelectorAll("article[data-state]")];
  const current = () => document.querySelector("article[data-state][aria-current]");
  const isOpen = (row) => UNDECIDED.includes(row.dataset.state);
  const box = (row) => row.querySelector("[name=check][type=checkbox]"); // checks have one
  const chosen = () => rows().filter((row) => box(row)?.checked);

  function say(...parts) {
    document.getElementById("decided").replaceChildren(...parts);
  }

  function choose(row) {
    current()?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  function move(step) {
    const all = rows();
    const at = all.indexOf(current());
    if (all.length) choose(all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)]);
  }

  // Goes on to the next row that is to be decided, from the top again after the last one.
  function goOn(from) {
    const all = rows();
    const at = all.indexOf(from);
    const next = [...all.slice(at + 1), ...all.slice(0, at + 1)].find(isOpen);
    if (next || from) choose(next || from);
    const { allDecided, nothingLeft } = document.getElementById("decided").dataset;
    if (!next) say(document.getElementById("sign-off-ask") ? allDecided : nothingLeft);
  }

  const isTypedIn = (row) =>
    [...row.querySelectorAll("textarea, input:not([type=hidden], [type=checkbox])")].some((one) => one.value !== one.defaultValue);

  // Puts in the parts that every decision changes, the row that was asked about, and other rows that changed with it or
  // by somebody else; of those what is typed in stays. The row that the keys are at stays the same.
  function freshen(page, asked) {
    const held = current()?.id;
    for (const id of PARTS) document.getElementById(id)?.replaceWith(page.getElementById(id) ?? "");
    for (const row of rows()) {
      const now = page.getElementById(row.id);
      const isChanged = now && now.dataset.revision !== row.dataset.revision;
      if (now && (row.id === asked || (isChanged && !isTypedIn(row)))) row.replaceWith(now);
    }
    const row = document.getElementById(held);
    if (row && "state" in row.dataset && !current()) choose(row);
    countChosen();
  }

  // Sends what is asked, of a row or of the whole, and puts the page in as it is now. What was refused comes back with
  // the reason and, in a row, with what was typed; a reason that stands at what was asked is not said once more.
  // What was done is said by the text of this name. Returns whether it was done.
  async function send(asked, address, given, nameOfText) {
    const texts = document.getElementById("texts").dataset;
    let answer;
    let page;
    try {
      answer = await fetch(address, { method: "POST", body: given, headers: { "X-Requested-With": "fetch" } });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      say(texts.failed);
      return false;
    }
    if (answer.redirected) {
      say(texts.ended, " ", signInLink());
      return false;
    }
    const refusal = page.querySelector("[role=alert]"); // it moves out of the page with what it is about
    const isPage = Boolean(page.getElementById("review-state"));
    if (isPage) freshen(page, asked);
    const isDone = answer.ok && isPage;
    if (isDone) say(document.getElementById("decided").dataset[nameOfText]);
    else if (document.contains(refusal) && refusal.closest("article, #sign-off-state")) say();
    else say(refusal?.textContent ?? texts.failed);
    return isDone;
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
    const row = form.closest("article");
    const given = new FormData(form, button);
    const isTakenBack = Boolean(button?.hasAttribute("formaction"));
    if (given.has("check") && row) given.set("reason", document.getElementById("verdicts").elements.reason.value);
    const takeBack = isTakenBack ? null : wayBack(form, row, given);
    if (row) choose(row);
    const [address, text] = isTakenBack ? [button.formAction, "takenBack"] : [form.action, "saved"];
    if (!(await send(row?.id, address, given, text))) return false;
    if ("signs" in form.dataset) document.getElementById("sign-off-title").focus();
    if (!takeBack) return true;
    done.push(takeBack);
    if (done.length > MOST_UNDONE) done.shift();
    if (given.get("triage") !== "open") goOn(row ? document.getElementById(row.id) : current());
    return true;
  }

  // Gives what takes a decision back, or null for what is no decision: a comment, a signature.
  function wayBack(form, row, given) {
    if (given.get("triage")) {
      const before = { triage: row.dataset.state, reason: row.dataset.reason, expires_at: row.dataset.ends };
      return () => {
        const now = document.getElementById(row.id);
        const again = new FormData(now.querySelector("[data-decide]"));
        for (const [name, value] of Object.entries(before)) again.set(name, value);
        return { row: now, address: form.action, again };
      };
    }
    if (!given.get("verdict")) return null;
    const ids = given.getAll("check").map((one) => `check-${one.slice(0, one.lastIndexOf(":"))}`);
    return () => {
      const all = ids.map((id) => document.getElementById(id));
      const again = new FormData();
      again.set("csrfmiddlewaretoken", given.get("csrfmiddlewaretoken"));
      for (const one of all) again.append("check", box(one).value);
      return { row: all[0], address: document.getElementById("verdicts").dataset.takeBack, again };
    };
  }

  // Returns whether something was undone.
  async function undo() {
    const last = done.pop();
    if (!last) {
      say(document.getElementById("decided").dataset.nothingToUndo);
      return false;
    }
    const { row, address, again } = last();
    choose(row);
    return send(row.id, address, again, "takenBack");
  }

  function countChosen() {
    for (const place of document.querySelectorAll("[data-chosen]")) place.textContent = String(chosen().length || "");
  }

  // Gives the verdict on the checks that are chosen, or on the one that the keys are at.
  function judge(verdict) {
    const from = chosen().length ? document.getElementById("verdicts") : current();
    from?.querySelector(`[name=verdict][value=${verdict}]`)?.click();
  }

  // Asks once more, with what signing freezes; without it what stands in the way is shown.
  function askToSign() {
    const ask = document.getElementById("sign-off-ask");
    if (ask) ask.open = true;
    (ask?.querySelector("button") ?? document.getElementById("sign-off-title"))?.focus();
    document.getElementById("sign-off").scrollIntoView({ block: "center" });
  }

  // Does what one of KEYS asks for. What is pressed after a key that opens a form is text, and no key of the desk.
  function obey(key) {
    if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
    else if (key === "u") whileKeysWait(undo);
    else if (key === "s") askToSign();
    else if (key in VERDICTS) judge(VERDICTS[key]);
    else if (!current()) return;
    else if (key === "x") box(current())?.click();
    else if (box(current())) return;
    else if (key in STATES) current().querySelector(`[value=${STATES[key]}]`).click();
    else {
      const form = document.getElementById(`${current().id}-${FORMS[key]}`);
      form.closest("details").open = true;
      form.querySelector("textarea").focus();
      pressed.length = 0;
    }
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || document.querySelector("dialog[open]") || !rows().length) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
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
    const row = event.target.closest("article[data-state]");
    if (!row || row === current()) return;
    current()?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
  });

  document.addEventListener("change", (event) => {
    if (event.target.matches("[name=check]")) countChosen();
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-choose-undecided]")) return;
    const open = rows().filter((row) => box(row) && isOpen(row));
    const isAll = open.every((row) => box(row).checked);
    for (const row of open) box(row).checked = !isAll;
    countChosen();
  });
})();
