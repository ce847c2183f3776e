// Everything on the page works without this. It adds keys, counts down, and fetches what changed.
"use strict";

const typing = (node) => node && (node.matches("input:not([type=checkbox]), textarea, select") || node.isContentEditable);
const main = () => document.getElementById("main");
/** A second press so soon was meant for the draft before: nobody has read this one. */
const UNSEEN_MS = 700;
const shown = performance.now();
let dirty = false;

/** After the page or its main part came anew. */
function begin() {
  dirty = false;
  tick();
}

document.addEventListener("input", (event) => {
  if (event.target.closest("#main form")) dirty = true;
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method === "dialog") return;
  if (form.dataset.sent) return event.preventDefault();
  form.dataset.sent = "yes";
});

window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

document.addEventListener("keydown", (event) => {
  const here = document.activeElement;
  const approve = document.getElementById("approve");
  if (typing(here)) {
    if (event.key === "Escape") here.blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && here.id === "body" && approve) approve.click();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  const go = (selector) => document.querySelector(selector)?.click();
  const keys = {
    a: () => { if (performance.now() - shown > UNSEEN_MS) approve?.click(); },
    e: () => document.getElementById("body")?.focus(),
    r: () => {
      const more = document.getElementById("more");
      if (more) { more.open = true; document.getElementById("note").focus(); }
    },
    j: () => (document.getElementById("decide") ? go('[data-key="j"]') : step(1)),
    k: () => (document.getElementById("decide") ? go('[data-key="k"]') : step(-1)),
    t: () => location.assign("/"),
    v: () => location.assign("/review"),
    o: () => location.assign("/outbox"),
    "?": () => document.getElementById("help").showModal(),
  };
  if (Object.hasOwn(keys, event.key)) {
    event.preventDefault();
    keys[event.key]();
  }
});

/** Moves the focus along the titles of a list. */
function step(by) {
  const titles = [...document.querySelectorAll("#main a.row-title, #main .row-title a")];
  if (!titles.length) return;
  const at = titles.indexOf(document.activeElement);
  titles[Math.min(titles.length - 1, Math.max(0, at + by))].focus();
}

for (const button of document.querySelectorAll("[data-help]")) {
  button.hidden = false;
  button.addEventListener("click", () => document.getElementById("help").showModal());
}

function tick() {
  for (const node of document.querySelectorAll("[data-until]")) {
    const left = Math.max(0, Math.round((Number(node.dataset.until) - Date.now()) / 1000));
    node.textContent = left >= 120 ? `${Math.ceil(left / 60)}min` : `${left}s`;
  }
}
setInterval(tick, 1000);

const busy = () => dirty || typing(document.activeElement) || document.querySelector("dialog[open]") !== null;
const say = (text) => { document.getElementById("news").textContent = text; };

/** Takes the parts that changed from a fresh copy; never a form in which somebody writes, nor a draft being read. */
async function refresh() {
  let fresh;
  try {
    const answer = await fetch(location.href, { credentials: "same-origin" });
    if (answer.status === 401) return location.reload();
    fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch { return; }
  for (const id of ["nav", "banners"]) {
    const part = fresh.getElementById(id);
    if (part) document.getElementById(id).replaceWith(part);
  }
  const next = fresh.getElementById("main");
  if (!next) return;
  if (document.getElementById("decide") || busy()) {
    say("Something changed elsewhere.");
    return;
  }
  if (next.innerHTML === main().innerHTML) return;
  const focused = document.activeElement?.getAttribute?.("href");
  main().replaceWith(next);
  if (focused) [...document.querySelectorAll("#main a")].find((link) => link.getAttribute("href") === focused)?.focus();
  begin();
  say("Brought up to date.");
}

if (document.body && !document.body.classList.contains("outside")) {
  let waiting = 0;
  const news = new EventSource(`/news?seen=${document.body.dataset.news}`);
  news.addEventListener("changed", () => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, 150);
  });
  window.addEventListener("pagehide", () => news.close());
}
begin();
