// The curator's workbench: lines of criteria as rows, rules from a list, and what a draft finds shown as one types.
"use strict";

(() => {
  const WAIT_MS = 500;
  const MOST_OFFERED = 30;
  const form = document.getElementById("hub-workbench");
  const trial = document.getElementById("hub-trial");
  const rules = JSON.parse(document.getElementById("hub-rules").textContent);
  const ruleOf = new Map(rules.map((rule) => [rule.id, rule]));
  const editors = new Map();

  // How a line of each field is taken apart, and put together again. A line of another form is one box.
  const LINES = {
    patterns: {
      read: (line) => line.match(/^(必須|禁止|required|forbidden)\s*[:：]\s*(.*)$/i)?.slice(1),
      write: ([wanted, pattern]) => (pattern ? `${wanted}: ${pattern}` : ""),
      // Where the rule of forbidden patterns alone is chosen, a new one is forbidden: as a required one nobody would look at it.
      get empty() { return [isRuleChosen("pattern.forbidden") && !isRuleChosen("pattern.required") ? "禁止" : "必須", ""]; },
    },
    terms: {
      read: (line) => line.match(/^(.+?)\s*(?:→|->|=>|⇒)\s*(.*)$/)?.slice(1),
      write: ([avoid, use]) => (avoid || use ? `${avoid} → ${use}` : ""),
      empty: ["", ""],
    },
    required_elements: {
      read: (line) => line.match(/^([^=[［]+?)\s*(?:[[［](.+?)[\]］])?\s*(?:[=＝]\s*(.+))?$/)?.slice(1).map((part) => part || ""),
      write: ([name, section, pattern]) => (name ? name + (section ? ` [${section}]` : "") + (pattern ? ` = ${pattern}` : "") : ""),
      empty: ["", "", ""],
    },
    rules: { read: (line) => [line], write: ([line]) => line, empty: [""] },
  };
  const PARTS = JSON.parse(document.getElementById("hub-parts").textContent);

  function isRuleChosen(id) {
    const lines = form.querySelector('[data-lines="rules"] textarea').value.split("\n");
    return lines.some((line) => line.trim().split(/[\s{]/)[0] === id);
  }

  function button(text, name, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "hub-line-button";
    made.textContent = text;
    made.setAttribute("aria-label", name);
    made.addEventListener("click", act);
    return made;
  }

  // Rows in place of a text area, which stays what is sent. Enter adds a row, Alt with an arrow moves one.
  function editorOf(box) {
    const name = box.dataset.lines;
    const area = box.querySelector("textarea");
    const label = box.querySelector("label");
    const line = LINES[name];
    const list = document.createElement("ol");
    list.className = "hub-lines";
    let dragged = null;

    const write = () => {
      area.value = [...list.children].map((row) => row.line()).filter(Boolean).join("\n");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    };

    function partOf(value, at, isWanted) {
      if (isWanted) {
        const choice = document.createElement("select");
        for (const [code, text] of Object.entries(PARTS.wanted)) choice.append(new Option(text, code));
        choice.value = /^(禁止|forbidden)$/i.test(value) ? "禁止" : "必須";
        choice.className = "hub-input hub-line-wanted";
        return choice;
      }
      const input = document.createElement("input");
      input.className = "hub-input";
      input.value = value;
      input.spellcheck = false;
      input.placeholder = PARTS[name][at];
      return input;
    }

    function rowOf(values, raw) {
      const row = document.createElement("li");
      const inputs = values.map((value, at) => partOf(value, at, name === "patterns" && at === 0 && raw === undefined));
      inputs.forEach((input, at) => input.setAttribute("aria-label", `${label.textContent.trim()}: ${PARTS[name][raw === undefined ? at : 0]}`));
      const move = (step) => {
        const other = step < 0 ? row.previousElementSibling : row.nextElementSibling;
        if (!other) return;
        if (step < 0) other.before(row);
        else other.after(row);
        write();
        inputs[inputs.length - 1].focus();
      };
      const handle = document.createElement("span");
      handle.className = "hub-line-handle";
      handle.textContent = "⠿";
      handle.draggable = true;
      handle.setAttribute("aria-hidden", "true");
      handle.addEventListener("dragstart", (event) => {
        dragged = row;
        event.dataTransfer.setData("text/plain", "");
        event.dataTransfer.setDragImage(row, 0, 0);
      });
      handle.addEventListener("dragend", () => {
        dragged = null;
        write();
      });
      row.addEventListener("dragover", (event) => {
        if (!dragged || dragged === row) return;
        event.preventDefault();
        const box = row.getBoundingClientRect();
        if (event.clientY < box.top + box.height / 2) row.before(dragged);
        else row.after(dragged);
      });
      row.line = () => (raw === undefined ? line.write(inputs.map((input) => input.value.trim())) : inputs[0].value.trim());
      const remove = button("×", form.dataset.remove, () => {
        const next = row.nextElementSibling || row.previousElementSibling;
        row.remove();
        write();
        (next ? next.querySelector("input") : add).focus();
      });
      row.append(handle, ...inputs, button("↑", form.dataset.up, () => move(-1)), button("↓", form.dataset.down, () => move(1)), remove);
      if (name === "rules") row.append(hintOf(inputs[0]));
      row.addEventListener("input", write);
      row.addEventListener("keydown", (event) => {
        if (event.isComposing) return;
        if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
          event.preventDefault();
          move(event.key === "ArrowUp" ? -1 : 1);
        } else if (event.key === "Enter" && event.target.tagName === "INPUT") {
          event.preventDefault(); // it stores nothing
          addRow(line.empty, row);
        }
      });
      return row;
    }

    function hintOf(input) {
      const hint = document.createElement("span");
      hint.className = "hub-second hub-line-hint";
      const show = () => {
        const rule = ruleOf.get(input.value.trim().split(/[\s{]/)[0]);
        hint.textContent = rule ? `${rule.title}。${rule.hint}` : "";
      };
      input.addEventListener("input", show);
      show();
      return hint;
    }

    function addRow(values, after) {
      const row = rowOf(values);
      if (after) after.after(row);
      else list.append(row);
      row.querySelector("input").focus();
      return row;
    }

    for (const text of area.value.split("\n").map((one) => one.trim()).filter(Boolean)) {
      const parts = line.read(text);
      list.append(parts ? rowOf(parts) : rowOf([text], text));
    }
    const add = button(`＋ ${form.dataset.add}`, `${label.textContent.trim()}: ${form.dataset.add}`, () => addRow(line.empty));
    add.classList.add("hub-line-add");
    area.hidden = true;
    if (PARTS.hints[name]) box.querySelector(".hub-hint").textContent = PARTS.hints[name];
    label.removeAttribute("for");
    area.after(list, add);
    editors.set(name, { addLine: (text) => { addRow(line.read(text)); write(); } });
  }

  // The rules, found by words of their title, of what they look at, or of their id.
  function rulePicker() {
    const search = document.getElementById("hub-rule-search");
    const list = document.getElementById("hub-rule-list");
    const choose = ({ id }) => {
      const { params } = ruleOf.get(id);
      editors.get("rules").addLine(Object.keys(params).length ? `${id} ${JSON.stringify(params)}` : id);
    };
    const offer = (typed) => {
      const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
      const found = rules.filter((rule) => words.every((word) => `${rule.id} ${rule.title} ${rule.hint}`.toLowerCase().includes(word)));
      return found.slice(0, MOST_OFFERED).map(({ id, title, hint }) => ({ id, title, hint: `${hint} (${id})` }));
    };
    offerAsOneTypes(search, list, { offer, choose });
  }

  const post = (address, more = {}) => {
    const given = new FormData(form);
    for (const [name, value] of Object.entries(more)) given.set(name, value);
    return fetch(address + location.search, { method: "POST", body: given, headers: { "X-Requested-With": "fetch" } });
  };

  let turn = 0;
  let timer = 0;
  async function tryIt() {
    const own = ++turn;
    trial.setAttribute("aria-busy", "true");
    const response = await post(form.dataset.trial);
    const html = await response.text();
    if (own !== turn) return; // typed on meanwhile
    trial.removeAttribute("aria-busy");
    if (!response.ok || response.redirected) trial.textContent = form.dataset.failed;
    else trial.innerHTML = html;
    trial.dataset.turn = String(own);
  }
  const soon = (event) => {
    if (!event.target.name) return; // a row has written to its field
    window.clearTimeout(timer);
    timer = window.setTimeout(tryIt, WAIT_MS);
  };

  // One review after the other: leaving the page ends it.
  async function compare() {
    const told = document.getElementById("hub-verdicts-told");
    const table = document.getElementById("hub-verdicts");
    const body = table.tBodies[0];
    const query = new URLSearchParams({ checklist: form.elements.checklist.value });
    const response = await fetch(`${form.dataset.reviews}?${query}`, { headers: { Accept: "application/json" } });
    if (!response.ok || response.redirected) {
      told.textContent = form.dataset.failed;
      return;
    }
    const { reviews } = await response.json();
    body.replaceChildren();
    table.hidden = !reviews.length;
    let changed = 0;
    let done = 0;
    for (const review of reviews) {
      told.textContent = `${done} / ${reviews.length}`;
      const one = await post(form.dataset.verdict, { review: review.id });
      if (!one.ok || one.redirected) {
        told.textContent = form.dataset.failed;
        return;
      }
      const found = await one.json();
      const row = body.insertRow();
      row.insertCell().textContent = review.title;
      if (found.error) {
        const cell = row.insertCell();
        cell.colSpan = 2;
        cell.textContent = found.error;
      } else {
        row.insertCell().innerHTML = found.before; // badges, escaped by the server
        row.insertCell().innerHTML = found.after;
        row.classList.toggle("hub-verdict-changes", found.is_change);
        if (found.is_change) body.prepend(row);
        changed += found.is_change ? 1 : 0;
      }
      done += 1;
    }
    told.textContent = !reviews.length ? form.dataset.none : changed ? form.dataset.of.replace("{changed}", changed).replace("{all}", reviews.length) : form.dataset.same;
  }

  for (const box of form.querySelectorAll("[data-lines]")) editorOf(box);
  rulePicker();
  form.addEventListener("input", soon);
  form.addEventListener("change", soon);
  const comparing = form.querySelector("[data-compare]");
  comparing.addEventListener("click", async () => {
    comparing.disabled = true;
    await compare();
    comparing.disabled = false;
  });
  if (form.elements.documents.value) tryIt();
})();
