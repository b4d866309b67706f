// Uploading: a row and a request for each file, with what the hub says of it until it is done.
// Without this script the form sends all files at once, and the batch's page shows what became of them.
"use strict";

(() => {
  const form = document.querySelector("[data-uploader]");
  const files = document.querySelector("[data-files]");
  const body = document.querySelector("[data-rows-of]");
  if (!body) return;
  const AT_ONCE = 2; // the hub gives one caller a share of its threads
  const MOST_FILES = 2000;
  const POLL_MS = 1500;
  const MOST_POLLED = 50;
  const HEAD_BYTES = 65536;
  const STARTS = ["PK\x03\x04", "\xd0\xcf\x11\xe0", "\x89PNG", "\xff\xd8\xff", "II*\x00", "MM\x00*"];
  const MARKS = ["\xff\xfe", "\xfe\xff"]; // of UTF-16 and UTF-32
  const ENCODINGS = ["utf-8", "shift_jis", "euc-jp", "iso-2022-jp"];
  const FINAL = [403, 404, 413]; // the same file gets the same answer, whatever the form says
  const texts = form ? form.dataset : {};
  const batch = body.dataset.rowsOf;
  const waiting = [];
  let sending = 0;
  let polling = false;

  // Signing in again in another tab changes the token: the cookie has the one that counts.
  const token = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1] ?? document.querySelector("[name=csrfmiddlewaretoken]").value;
  const size = (bytes) => (bytes < 1048576 ? `${Math.ceil(bytes / 1024)} KB` : `${(bytes / 1048576).toFixed(1)} MB`);
  const element = (name, content = "", classes = "") => {
    const made = document.createElement(name);
    made.textContent = content;
    made.className = classes;
    return made;
  };
  const rowsIn = (text) => new DOMParser().parseFromString(text, "text/html");

  function withoutScriptless(place) {
    for (const one of place.querySelectorAll("[data-scriptless]")) one.hidden = true;
    for (const one of place.querySelectorAll("[data-script]")) one.hidden = false;
  }

  function newRow(name, bytes) {
    const row = element("tr");
    const [cell, live, kind] = [element("td", name), element("td"), element("td", "–")];
    cell.append(element("span", size(bytes), "place"));
    live.dataset.live = kind.dataset.kind = "";
    const [, state, type] = files.querySelectorAll("th");
    live.dataset.label = state.textContent;
    kind.dataset.label = type.textContent;
    row.append(cell, live, kind);
    body.prepend(row);
    return row;
  }

  function say(row, word, kind, text, buttons = []) {
    const live = row.querySelector("[data-live]");
    const reason = element("span", ` ${text}`, "reason");
    if (text) reason.setAttribute("role", "alert");
    live.replaceChildren(element("span", word, `tag ${kind}`), reason, ...buttons);
    countRefused();
  }

  // What was refused is no part of the batch: only this page knows of it.
  function countRefused() {
    const place = document.querySelector("[data-refused]");
    const number = body.querySelectorAll("tr:not([data-document]) [data-live] > .tag.fail, tr:not([data-document]) [data-live] > .tag.warning").length;
    place.hidden = !number;
    place.textContent = number ? `${place.dataset.refused}: ${number}` : "";
  }

  function button(text, act) {
    const made = element("button", text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  function refusal(file) {
    if (file.size > Number(texts.mostBytes)) return [texts.tooLarge, false];
    if (file.size === 0) return [texts.empty, false];
    const dot = file.name.lastIndexOf(".");
    const suffix = dot > 0 ? file.name.slice(dot).toLowerCase() : "";
    return suffix && !texts.suffixes.split(" ").includes(suffix) ? [texts.unknown, true] : null;
  }

  // Whether a file may be of a kind that the hub reads, whatever its name: the beginning of one, or text. Like the hub
  // (knowledge/parsers/detect.py), but text of two bytes a character needs its mark here.
  async function mayBeRead(file) {
    const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
    const latin = [...head.subarray(0, 1024)].map((byte) => String.fromCharCode(byte)).join("");
    if (STARTS.some((start) => latin.startsWith(start)) || latin.includes("%PDF-")) return true;
    if (MARKS.some((mark) => latin.startsWith(mark))) return true;
    return !head.includes(0) && ENCODINGS.some((encoding) => decodes(head, encoding));
  }

  function decodes(bytes, encoding) {
    try {
      new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream: true }); // the cut may be inside a character
      return true;
    } catch {
      return false;
    }
  }

  // Takes a file on: a row at once, sent when its turn comes.
  function add(file, below, more = {}, row = newRow(below ? `${below}/${file.name}` : file.name, file.size)) {
    files.hidden = false;
    const job = { file, below, more, row };
    const refused = refusal(file);
    if (refused) {
      const [text, nameAlone] = refused;
      say(row, texts.unsent, "warning", text);
      if (nameAlone) offer(job);
      return;
    }
    queue(job);
  }

  async function offer(job) {
    const readable = await mayBeRead(job.file).catch(() => false); // a folder, or a file that is gone
    if (readable) job.row.querySelector("[data-live]").append(button(texts.anyway, () => queue(job)));
  }

  function queue(job) {
    say(job.row, texts.waiting, "", "");
    waiting.push(job);
    next();
  }

  function next() {
    while (sending < AT_ONCE && waiting.length) send(waiting.shift());
  }

  function given(job) {
    const data = new FormData();
    const fields = job.more.mends ? [] : new FormData(form);
    for (const [name, value] of fields) if (name !== "files" && name !== "csrfmiddlewaretoken") data.append(name, value);
    data.set("batch", batch);
    if (job.below) data.set("below", job.below);
    for (const [name, value] of Object.entries(job.more)) data.set(name, value);
    data.append("files", job.file, job.file.name);
    return data;
  }

  function send(job) {
    sending += 1;
    const request = new XMLHttpRequest();
    const bar = element("progress");
    bar.max = 100;
    bar.value = 0;
    bar.setAttribute("aria-label", job.file.name);
    say(job.row, texts.sending, "", "", [bar]);
    request.upload.addEventListener("progress", (event) => {
      if (!event.lengthComputable) return;
      bar.value = Math.round((100 * event.loaded) / event.total);
      if (event.loaded === event.total) job.row.querySelector(".tag").textContent = texts.checking;
    });
    request.addEventListener("loadend", () => {
      sending -= 1;
      answered(job, request);
      next();
    });
    request.open("POST", form.action);
    request.setRequestHeader("X-Requested-With", "fetch");
    request.setRequestHeader("X-CSRFToken", token());
    request.setRequestHeader("Accept", "text/html");
    request.send(given(job));
  }

  function answered(job, request) {
    const again = button(texts.again, () => queue(job));
    if (request.status && new URL(request.responseURL).pathname !== new URL(form.action).pathname) {
      const link = element("a", texts.signIn);
      link.href = form.dataset.page;
      link.target = "_blank";
      say(job.row, texts.unsent, "fail", texts.ended, [link, " ", again]);
      return;
    }
    const shown = rowsIn(request.responseText ?? "");
    const [row, ...more] = shown.querySelectorAll("tbody tr"); // an archive gives a row for each of its files
    if (!row) {
      const reason = request.status === 413 ? texts.tooLarge : texts.failed; // of a proxy, whose page says nothing
      const said = shown.querySelector("[role=alert]")?.textContent ?? reason;
      say(job.row, texts.unsent, "fail", said, FINAL.includes(request.status) ? [] : [again]);
      return;
    }
    for (const one of [row, ...more]) {
      withoutScriptless(one);
      const same = one.id && document.getElementById(one.id);
      if (same && same !== job.row) same.remove();
    }
    const adopted = [row, ...more].map((one) => document.adoptNode(one));
    job.row.replaceWith(...adopted);
    countRefused();
    if (!more.length && row.hasAttribute("data-again")) row.querySelector("[data-live]").append(again);
    const onwards = document.querySelector("[data-to-batch]");
    if (onwards) onwards.hidden = false;
    poll(true);
  }

  // Asks for the rows that are under way, and for the counts, until nothing is.
  async function poll(isNew = false) {
    if (polling) return;
    polling = true;
    let once = isNew;
    while (once || body.querySelector("[data-open]") || sending) {
      const open = [...body.querySelectorAll("[data-open]")].slice(0, MOST_POLLED).map((row) => row.dataset.document);
      if (open.length || once) await refresh(open);
      once = false;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    polling = false;
  }

  async function refresh(open) {
    const address = `${form?.dataset.rows ?? body.dataset.rows}?${new URLSearchParams({ batch, of: open.join(",") })}`;
    try {
      const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" } });
      if (!answer.ok || answer.redirected) return;
      const shown = rowsIn(await answer.text());
      for (const row of shown.querySelectorAll("tr[data-document]")) change(row);
      const counts = shown.querySelector("[data-counts]");
      const place = document.querySelector("[data-counts]");
      if (counts && place && counts.textContent !== place.textContent) place.replaceWith(document.adoptNode(counts));
    } catch (error) {
      console.warn("upload:", error); // the hub may be restarting: ask again
    }
  }

  function change(row) {
    const there = document.getElementById(row.id);
    if (!there) return;
    withoutScriptless(row);
    there.toggleAttribute("data-open", row.hasAttribute("data-open"));
    for (const part of ["[data-live]", "[data-kind]"]) {
      const [old, fresh] = [there.querySelector(part), row.querySelector(part)];
      if (!old.contains(document.activeElement) && old.innerHTML !== fresh.innerHTML) old.innerHTML = fresh.innerHTML;
    }
  }

  async function readEntry(entry, below, found) {
    if (found.length >= MOST_FILES) return;
    if (entry.isFile) {
      const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
      found.push([file, below]);
      return;
    }
    const reader = entry.createReader();
    for (;;) {
      const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
      if (!some.length) return;
      for (const one of some) await readEntry(one, below ? `${below}/${entry.name}` : entry.name, found);
    }
  }

  async function dropped(items) {
    const entries = [...items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const found = [];
    for (const entry of entries) await readEntry(entry, "", found);
    for (const [file, below] of found) add(file, below);
  }

  if (form) {
    withoutScriptless(document);
    const box = form.closest("details");
    addEventListener("dragover", (event) => {
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      if (box) box.open = true;
      document.documentElement.classList.add("dropping");
    });
    addEventListener("dragleave", (event) => {
      if (!event.relatedTarget) document.documentElement.classList.remove("dropping");
    });
    addEventListener("drop", (event) => {
      document.documentElement.classList.remove("dropping");
      if (!event.dataTransfer.files.length && !event.dataTransfer.items.length) return;
      event.preventDefault();
      dropped(event.dataTransfer.items);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", (event) => {
      const input = event.target;
      if (input.type !== "file") return;
      for (const file of [...input.files].slice(0, MOST_FILES)) add(file, file.webkitRelativePath.split("/").slice(0, -1).join("/"));
      input.value = "";
    });
    addEventListener("beforeunload", (event) => {
      if (sending || waiting.length) event.preventDefault();
    });
  }
  body.addEventListener("change", (event) => {
    const mend = event.target.closest("[data-mend]");
    if (mend && event.target.files?.length) {
      add(event.target.files[0], "", { mends: mend.elements.mends.value }, mend.closest("tr"));
    }
    const choice = event.target.closest("form[data-choice]");
    if (choice) choice.requestSubmit();
  });
  body.addEventListener("submit", async (event) => {
    const choice = event.target.closest("form[data-choice]");
    if (!choice) return;
    event.preventDefault();
    const line = element("span", "", "place");
    line.setAttribute("role", "status");
    try {
      const answer = await fetch(choice.action, { method: "POST", body: new FormData(choice), headers: { "X-Requested-With": "fetch", "X-CSRFToken": token() } });
      const text = await answer.text();
      line.textContent = answer.redirected ? texts.ended : answer.ok ? text : (rowsIn(text).querySelector("[role=alert]")?.textContent ?? texts.failed);
      if (answer.ok && !answer.redirected) for (const one of choice.querySelectorAll(".tag, button")) one.remove();
    } catch {
      line.textContent = texts.failed;
    }
    choice.parentElement.querySelector("[role=status]")?.remove();
    choice.after(line);
  });
  if (body.querySelector("[data-open]")) poll();
})();
