// Decisions on a review, on its own page: on findings and checks by buttons or by the keys of the reviewer's desk, and
// the sign-off. Nothing reloads: the page as it is now is fetched, and what changed of it is put in.
"use strict";

(() => {
  const STATES = { a: "accepted", r: "rejected", f: "fixed", o: "open" };
  const VERDICTS = { 1: "pass", 2: "warning", 3: "fail", 4: "not_applicable" };
  const FORMS = { w: "waive", c: "comment", d: "assign" };
  const FIELDS = { w: "waiver_reason", d: "assignee" }; // of the form for several findings
  const UNDECIDED = ["open", "skipped", "error"];
  const TOGETHER = { finding: "together", check: "verdicts" }; // the forms for several rows
  const PARTS = ["review-state", "sign-off-state"]; // what every decision changes
  const MOST_UNDONE = 100;
  const KEYS = "jkusx" + Object.keys({ ...STATES, ...VERDICTS, ...FORMS }).join("");
  const pressed = []; // the keys that were pressed while something was saved; they are for what comes after it
  let saving = 0;
  const done = []; // what was decided here, the last one last: the requests that take it back
  const rows = () => [...document.querySelectorAll("article[data-state]")];
  const current = () => document.querySelector("article[data-state][aria-current]");
  const isOpen = (row) => UNDECIDED.includes(row.dataset.state);
  const box = (row) => row.querySelector("h3 [type=checkbox], h4 [type=checkbox]");
  const kind = (row) => box(row).name; // finding or check
  const chosen = (wanted) => rows().filter((row) => box(row).checked && kind(row) === wanted);
  const rowOf = { finding: (id) => document.getElementById(id), check: (id) => document.getElementById(`check-${id}`) };

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

  const isChanged = (field) =>
    field.matches("select")
      ? field.value !== (field.querySelector("[selected]") ?? field.options[0]).value
      : field.value !== field.defaultValue;
  const isTypedIn = (row) => [...row.querySelectorAll("textarea, select, input:not([type=hidden], [type=checkbox])")].some(isChanged);

  // Puts in the parts that every decision changes, the rows that were asked about, and other rows that changed with them
  // or by somebody else; of those what is typed in stays. The row that the keys are at stays the same.
  function freshen(page, asked) {
    const held = current()?.id;
    for (const id of PARTS) document.getElementById(id)?.replaceWith(page.getElementById(id) ?? "");
    for (const row of rows()) {
      const now = page.getElementById(row.id);
      const isOther = now && now.dataset.revision !== row.dataset.revision;
      if (now && (asked.includes(row.id) || (isOther && !isTypedIn(row)))) row.replaceWith(now);
    }
    if (!page.getElementById("decided")) stopDeciding(page);
    const row = document.getElementById(held);
    if (row && "state" in row.dataset && !current()) choose(row);
    countChosen();
  }

  // Takes away what decides, keys and boxes among it, once the review is signed off: the page as it is now has none.
  function stopDeciding(page) {
    for (const row of rows()) row.replaceWith(page.getElementById(row.id) ?? "");
    for (const part of document.querySelectorAll("[data-keys], #together-box, #verdicts")) part.remove();
    done.length = pressed.length = 0;
  }

  // Sends what is asked, of rows or of the whole, and puts the page in as it is now. What was refused comes back with
  // the reason and, in a row, with what was typed; a reason that stands at what was asked is not said once more.
  // What was done is said by the text of this name. Returns the ids of the rows that were not changed since somebody else
  // was faster with them, or null where nothing was done.
  async function send(asked, address, given, nameOfText) {
    const texts = document.getElementById("texts").dataset;
    let answer;
    let page;
    try {
      answer = await fetch(address, { method: "POST", body: given, headers: { "X-Requested-With": "fetch" } });
      page = new DOMParser().parseFromString(await answer.text(), "text/html");
    } catch {
      say(texts.failed);
      return null;
    }
    if (answer.redirected) {
      say(texts.ended, " ", signInLink());
      return null;
    }
    const refusal = page.querySelector("[role=alert]"); // it moves out of the page with what it is about
    const isPage = Boolean(page.getElementById("review-state"));
    if (isPage) freshen(page, asked);
    const isDone = answer.ok && isPage;
    const overtaken = isDone ? (refusal?.dataset.overtaken ?? "").split(" ").filter(Boolean) : [];
    if (isDone && !overtaken.length) say(document.getElementById("decided").dataset[nameOfText]);
    else if (document.contains(refusal) && refusal.closest("article, #sign-off-state")) say();
    else say(refusal?.textContent ?? texts.failed);
    return isDone ? overtaken : null;
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
    const asked = row ? [row.id] : targets(given).map((one) => one.id);
    if (isTooMany(asked.length)) return false;
    const isTakenBack = Boolean(button?.hasAttribute("formaction"));
    if (given.has("check") && row) given.set("reason", document.getElementById("verdicts").elements.reason.value);
    const takeBack = isTakenBack ? null : wayBack(row, given);
    if (row) choose(row);
    const [address, text] = isTakenBack ? [button.formAction, "takenBack"] : [form.action, "saved"];
    const overtaken = await send(asked, address, given, text);
    if (!overtaken) return false;
    if (takeBack) remember(takeBack, overtaken);
    if (overtaken.length) {
      choose(document.getElementById(overtaken[0]));
      return false;
    }
    if (form.id === "together") form.reset(); // the boxes of the rows are new already
    if ("signs" in form.dataset) document.getElementById("sign-off-title").focus();
    if (!takeBack) return true;
    if (given.get("triage") !== "open") goOn(row ? document.getElementById(row.id) : current());
    return true;
  }

  // Remembers the requests that take a decision back, without the rows that it did not reach.
  function remember(requests, overtaken) {
    const reached = requests.map((one) => ({ ...one, ids: one.ids.filter((id) => !overtaken.includes(id)) }));
    done.push(reached.filter((one) => one.ids.length));
    if (done.length > MOST_UNDONE) done.shift();
  }

  // Returns whether so many rows are more than one form may send, and says so then.
  function isTooMany(number) {
    const { most, tooMany } = document.getElementById("decided").dataset;
    if (number <= Number(most)) return false;
    say(tooMany);
    return true;
  }

  // The rows whose boxes are among what is sent.
  const targets = (given) =>
    Object.keys(rowOf).flatMap((name) => given.getAll(name).map((one) => rowOf[name](one.slice(0, one.lastIndexOf(":")))));

  // Gives the requests that take a decision back, or null for what is no decision: a comment, an assignment, a signature.
  // Each has the ids of the rows that it is about, the address, and values; the rows' revisions are those of then.
  function wayBack(row, given) {
    const token = given.get("csrfmiddlewaretoken");
    const ids = row ? [row.id] : targets(given).map((one) => one.id);
    if (given.get("triage")) {
      const address = document.getElementById("together").action;
      const requests = new Map(); // one for the rows that stood alike
      for (const id of ids) {
        const { state, reason, ends } = document.getElementById(id).dataset;
        const stood = JSON.stringify([state, reason, ends]);
        const values = { csrfmiddlewaretoken: token, triage: state, reason, expires_at: ends };
        if (!requests.has(stood)) requests.set(stood, { ids: [], address, values });
        requests.get(stood).ids.push(id);
      }
      return [...requests.values()];
    }
    if (!given.get("verdict")) return null;
    return [{ ids, address: document.getElementById("verdicts").dataset.takeBack, values: { csrfmiddlewaretoken: token } }];
  }

  // Returns whether something was undone.
  async function undo() {
    const last = done.pop();
    if (!last) {
      say(document.getElementById("decided").dataset.nothingToUndo);
      return false;
    }
    choose(document.getElementById(last[0].ids[0]));
    for (const { ids, address, values } of last) {
      const again = new FormData();
      for (const [name, value] of Object.entries(values)) again.set(name, value);
      for (const one of ids.map((id) => box(document.getElementById(id)))) again.append(one.name, one.value);
      const overtaken = await send(ids, address, again, "takenBack");
      if (!overtaken || overtaken.length) return false;
    }
    return true;
  }

  function countChosen() {
    for (const place of document.querySelectorAll("[data-chosen]")) {
      place.textContent = String(chosen(place.dataset.chosen).length || "");
    }
  }

  // Says how many findings are chosen, with the way to what is done with several of them.
  function sayChosen() {
    const text = document.querySelector("#together-box > summary").textContent;
    say(...(chosen("finding").length ? [Object.assign(document.createElement("a"), { href: "#together", textContent: text })] : []));
  }

  // Presses a button for the rows of a kind that are chosen, or for the one that the keys are at.
  function press(wanted, button) {
    const from = chosen(wanted).length ? document.getElementById(TOGETHER[wanted]) : current();
    from?.querySelector(button)?.click();
  }

  // Opens the form that a key stands for, of the findings that are chosen or of the one that the keys are at.
  function openForm(key) {
    const isOfMany = key in FIELDS && chosen("finding").length;
    const form = document.getElementById(isOfMany ? TOGETHER.finding : `${current().id}-${FORMS[key]}`);
    form.closest("details").open = true;
    const field = isOfMany ? form.elements[FIELDS[key]] : form.querySelector("textarea, select");
    field.focus();
    pressed.length = 0;
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
    else if (key in VERDICTS) press("check", `[name=verdict][value=${VERDICTS[key]}]`);
    else if (key in STATES) press("finding", `[name=triage][value=${STATES[key]}]`);
    else if (!current()) return;
    else if (key === "x") box(current()).click();
    else if (kind(current()) === "finding") openForm(key);
  }

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || document.querySelector("dialog[open]") || !rows().length) return;
    if (event.target.matches("input:not([type=checkbox]), select, textarea")) {
      if (event.key === "Escape") event.target.blur();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.target.form?.requestSubmit(event.target.closest("fieldset")?.querySelector("button"));
      }
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.repeat && !"jk".includes(event.key)) return; // a key that is held decides once
    if (!KEYS.includes(event.key)) return;
    if (saving) pressed.push(event.key);
    else obey(event.key);
    event.preventDefault();
  });

  // What the keys are takes many lines of a narrow page: there it is looked at when it is asked for.
  if (window.matchMedia("(max-width: 40rem)").matches) document.querySelector("[data-keys]")?.removeAttribute("open");

  document.addEventListener("focusin", (event) => {
    const row = event.target.closest("article[data-state]");
    if (!row || row === current()) return;
    current()?.removeAttribute("aria-current");
    row.setAttribute("aria-current", "true");
  });

  document.addEventListener("change", (event) => {
    if (!event.target.matches("article [type=checkbox]")) return;
    countChosen();
    if (event.target.name === "finding") sayChosen();
  });

  // The people are on the page once: a finding's own form takes them over when it is opened.
  document.addEventListener(
    "toggle",
    (event) => {
      const own = event.target.open && event.target.querySelector("article [name=assignee]");
      if (!own) return;
      const known = [...own.options].map((one) => one.value);
      for (const one of document.querySelector("#together [name=assignee]").options) {
        if (!known.includes(one.value)) own.append(new Option(one.text, one.value));
      }
    },
    true,
  );

  document.addEventListener("click", (event) => {
    if (event.target.closest("[href='#together']")) document.getElementById("together-box").open = true;
    const wanted = event.target.closest("[data-choose]")?.dataset.choose;
    if (!wanted) return;
    const open = rows().filter((row) => kind(row) === wanted && isOpen(row));
    const first = isTooMany(open.length) ? open.slice(0, Number(document.getElementById("decided").dataset.most)) : open;
    const isAll = first.every((row) => box(row).checked);
    for (const row of first) box(row).checked = !isAll;
    countChosen();
  });
})();
