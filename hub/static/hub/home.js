// The home pages: the answer is fetched, passages open in a drawer. Without this script links lead to pages of their own.
"use strict";

const texts = document.getElementById("texts")?.dataset ?? {};
const drawer = document.getElementById("drawer");
const inDrawer = document.getElementById("drawer-content");
let opened = 0;

// What is long beside the text and would stand above it here is folded.
if (matchMedia("(max-width: 48rem)").matches) document.querySelectorAll("details[data-wide]").forEach((part) => part.removeAttribute("open"));

function signInLink() {
  const onwards = document.createElement("a");
  onwards.href = location.href;
  onwards.textContent = texts.signIn;
  return onwards;
}

function say(place, text, link) {
  const line = document.createElement("p");
  line.className = "notice bad";
  line.setAttribute("role", "alert");
  line.append(text);
  if (link) line.append(" ", signInLink());
  place.replaceChildren(line);
}

// Puts a part of a page, which the hub made and escaped, into a place of this one.
async function load(place, address, isWanted = () => true) {
  place.setAttribute("aria-busy", "true");
  const busy = document.createElement("p");
  busy.className = "hint";
  busy.textContent = texts.busy;
  place.replaceChildren(busy);
  try {
    const answer = await fetch(address, { headers: { "X-Requested-With": "fetch" }, credentials: "same-origin" });
    const text = await answer.text();
    if (!isWanted()) return;
    if (answer.redirected) say(place, texts.ended, true);
    else if (answer.ok) place.innerHTML = text;
    else {
      const told = new DOMParser().parseFromString(text, "text/html").querySelector("[role=alert]");
      say(place, told ? told.textContent : texts.failed);
    }
  } catch {
    if (isWanted()) say(place, texts.failed);
  }
  place.removeAttribute("aria-busy");
}

// Puts in each sentence of an answer as it comes, and then the whole. What breaks off is fetched as a whole instead.
function follow(place, address) {
  const stream = new EventSource(address);
  const sentences = document.createElement("div");
  const busy = document.createElement("p");
  sentences.className = "sentences";
  busy.className = "hint";
  busy.textContent = texts.busy;
  place.replaceChildren(sentences, busy);
  stream.addEventListener("sentence", (event) => sentences.insertAdjacentHTML("beforeend", JSON.parse(event.data).html));
  stream.addEventListener("answer", (event) => {
    stream.close();
    place.innerHTML = JSON.parse(event.data).html;
    place.removeAttribute("aria-busy");
  });
  stream.addEventListener("error", () => {
    stream.close();
    load(place, place.dataset.load);
  });
}

// What a part of a page still waits for is fetched; gives when all of it is there.
function fetchParts(part, isWanted) {
  return Promise.all([...part.querySelectorAll("[data-load]")].map((place) => load(place, place.dataset.load, isWanted)));
}

for (const place of document.querySelectorAll("[data-load]")) {
  if (place.dataset.stream) follow(place, place.dataset.stream);
  else load(place, place.dataset.load);
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-drawer]");
  if (!link || !drawer || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const turn = ++opened;
  if (!drawer.open) drawer.showModal();
  const isWanted = () => turn === opened && drawer.open;
  const lead = () => inDrawer.querySelector(".page rect, .sheet .cited, mark")?.scrollIntoView({ block: "center" });
  await load(inDrawer, link.href, isWanted);
  lead();
  if (!inDrawer.querySelector("[data-load]")) return;
  await fetchParts(inDrawer, isWanted);
  if (isWanted()) lead();
});

// What is said of an answer is sent without leaving the page.
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-quiet]");
  if (!form) return;
  event.preventDefault();
  const given = new FormData(form, event.submitter);
  try {
    const answer = await fetch(form.action, { method: "POST", body: given, headers: { "X-Requested-With": "fetch" } });
    const line = document.createElement("p");
    line.className = "hint";
    line.setAttribute("role", "status");
    if (answer.redirected) line.append(texts.ended, " ", signInLink());
    else line.textContent = answer.ok ? await answer.text() : texts.failed;
    if (answer.ok && !answer.redirected) form.replaceWith(line);
    else form.append(line);
  } catch {
    form.append(texts.failed);
  }
});

// A click beside the drawer closes it, as Escape does.
drawer?.addEventListener("click", (event) => {
  if (event.target === drawer) drawer.close();
});
drawer?.addEventListener("close", () => inDrawer.replaceChildren());

const account = document.querySelector(".account");
document.addEventListener("click", (event) => {
  if (account?.open && !account.contains(event.target)) account.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && account?.open) account.open = false;
});

// Pages of an original: n and p turn them, + and - change their size. The arrow keys turn them, too, unless those scroll
// a picture that is wider than its place.
document.addEventListener("keydown", (event) => {
  const place = document.querySelector(".whole-page");
  if (!place || event.altKey || event.ctrlKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  const pages = document.querySelector("nav.pages");
  const size = pages.querySelector("[data-sizes] [aria-current]");
  const scrolls = event.key.startsWith("Arrow") && place.scrollWidth > place.clientWidth;
  const rel = { ArrowLeft: "prev", p: "prev", ArrowRight: "next", n: "next" }[event.key];
  if (rel && !scrolls) pages.querySelector(`[rel=${rel}]`)?.click();
  else if (event.key === "+") size?.nextElementSibling?.click();
  else if (event.key === "-") size?.previousElementSibling?.click();
});

// What is at work is looked at again until it is done; what cannot be had now is asked for again.
async function lookAgain() {
  try {
    const answer = await fetch(location.href, { headers: { "X-Requested-With": "fetch" }, credentials: "same-origin" });
    if (answer.redirected) return say(document.querySelector("[data-at-work]"), texts.ended, true);
    if (answer.ok) document.getElementById("main").innerHTML = await answer.text();
  } catch {
    // the hub did not answer this time
  }
  if (document.querySelector("[data-at-work]")) setTimeout(lookAgain, 3000);
}
if (document.querySelector("[data-at-work]")) setTimeout(lookAgain, 3000);
