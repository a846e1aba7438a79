"use strict";
// The labelling screen. Texts are only ever set as text, never as markup; the
// server renders and sanitises their Markdown.
(() => {
  const task = JSON.parse(document.getElementById("task").textContent);
  const el = (id) => document.getElementById(id);
  const UNDO_MS = task.undoSeconds * 1000;
  const CONFIDENCES = ["high", "medium", "low"];

  const answers = new Map(Object.entries(task.answers));
  const displayed = new Set();
  const given = []; // units answered on this page, latest last
  let place = 0;
  let shownAt = 0;
  let hiddenMs = 0;
  let hiddenSince = 0;
  let isStoring = false;
  let isSaving = false;
  let nKept = 0;
  let isRaw = false;

  // ---- what was answered, kept until it is saved ----

  // An action is on disk before the page moves on. What the browser cannot store, it keeps in
  // memory, and the page says how many that are.
  const store = (() => {
    const memory = { kept: [], refused: [] };
    const removed = new Set(); // also if the browser fails to delete them
    const database = new Promise((resolve) => {
      try {
        const request = indexedDB.open("eval-assets", 1);
        request.onupgradeneeded = () => {
          for (const name of Object.keys(memory)) {
            request.result.createObjectStore(name, { keyPath: "key", autoIncrement: true });
          }
        };
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => resolve(null);
      } catch {
        resolve(null);
      }
    });
    const transact = async (work, mode = "readwrite") => {
      const open = await database;
      return new Promise((resolve, reject) => {
        const names = Object.keys(memory);
        const transaction = open.transaction(names, mode, { durability: "strict" });
        const request = work((name) => transaction.objectStore(name));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onabort = () => reject(transaction.error);
      });
    };
    const list = async (name) => {
      const stored = await transact((table) => table(name).getAll(), "readonly").catch(() => []);
      const all = [...stored.filter((op) => op.page === task.page), ...memory[name]];
      return all.filter((op) => name !== "kept" || !removed.has(op.id));
    };
    const add = (name, op) =>
      transact((table) => table(name).add(op)).catch(() => void memory[name].push(op));
    const remove = async (op) => {
      removed.add(op.id);
      memory.kept = memory.kept.filter((other) => other.id !== op.id);
      if (op.key !== undefined) {
        await transact((table) => table("kept").delete(op.key)).catch(() => undefined);
      }
    };
    return {
      kept: () => list("kept"),
      refused: () => list("refused"),
      add: (op) => add("kept", op),
      remove,
      refuse: async (op, reason) => {
        const { key, ...rest } = op;
        await add("refused", { ...rest, reason });
        await remove(op);
      },
      countOffDisk: () => memory.kept.length + memory.refused.length,
    };
  })();

  const windows = new BroadcastChannel(`eval-assets:${task.page}`);
  windows.onmessage = ({ data }) => {
    applied(data);
    showProgress();
    if (el("work").hidden || unit().code !== data.unit) return;
    showGiven();
    say("Answered in another window.");
  };

  const record = async (op) => {
    isStoring = true;
    el("status").dataset.state = "saving";
    const at = new Date();
    const random = crypto.getRandomValues(new Uint32Array(2)).join("-");
    const id = `${at.getTime()}-${random}`;
    const action = { id, at: at.toISOString(), page: task.page, ...op };
    await store.add(action);
    isStoring = false;
    applied(action);
    windows.postMessage(action);
    await showKept();
    save();
  };

  // An option that was added after the answer is still open, and so is its screen.
  const isDone = (one) =>
    answers.has(one.code) &&
    (one.options ?? []).every(([code]) => code in (answers.get(one.code).ratings ?? {}));

  const applied = (op) => {
    if (op.undo) {
      answers.delete(op.unit);
    } else {
      answers.set(op.unit, op);
    }
  };

  const showKept = async () => {
    const refused = await store.refused();
    nKept = (await store.kept()).length;
    const counts = [];
    if (nKept) counts.push(`Not saved yet: ${nKept}.`);
    if (store.countOffDisk()) counts.push(`Not on disk: ${store.countOffDisk()}.`);
    el("unsaved").textContent = counts.join(" ");
    el("all-saved").hidden = nKept > 0;
    el("refused").hidden = !refused.length;
    el("refused-title").textContent = `Refused: ${refused.length}`;
    el("refused-list").replaceChildren(
      ...refused.map((op) => element("li", `${op.at}: ${described(op)}. Refused: ${op.reason}`)),
    );
  };

  const described = (op) => {
    const place = task.units.findIndex((one) => one.code === op.unit);
    const name = place < 0 ? "an earlier response" : title(task.units[place]);
    if (op.undo) return `${name}: undo`;
    const selected = op.ratings && JSON.stringify(Object.values(op.ratings));
    return `${name}: ${op.skipReason || selected || op.rating}`;
  };

  // ---- saving to the server: one at a time, in order, until each has arrived ----

  const alone = (work) =>
    navigator.locks ? navigator.locks.request(`eval-assets:${task.page}`, work) : work();

  // Whatever stands between page and server may answer anything, with any status. Only the
  // server itself names `done`, `refused` or `unavailable`.
  const send = async (op) => {
    try {
      const reply = await fetch(`${task.address}/labels`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ...op, ageMs: Date.now() - Date.parse(op.at) }),
      });
      const body = await reply.json().catch(() => ({}));
      if (reply.ok && Number.isInteger(body.done)) return { done: body.done };
      if (reply.status === 422 && body.refused) return { refused: body.refused };
      if (body.unavailable) return { waits: body.unavailable, isOfServer: true };
      return { waits: `not the reply of this server (${reply.status})` };
    } catch {
      return { waits: "no connection" };
    }
  };

  const sendAll = async () => {
    const waiting = new Set();
    const outcome = { waits: "", refused: "", done: answers.size };
    for (const op of await store.kept()) {
      if (waiting.has(op.unit)) continue;
      const { done, refused, waits, isOfServer } = await send(op);
      if (waits) {
        outcome.waits = waits;
        waiting.add(op.unit);
        if (!isOfServer) break;
        continue;
      }
      if (refused) {
        await store.refuse(op, refused);
        outcome.refused = refused;
      } else {
        await store.remove(op);
        outcome.done = done;
      }
      await showKept();
    }
    return outcome;
  };

  const save = async () => {
    if (isSaving) return;
    isSaving = true;
    let [refusal, nDone] = ["", answers.size];
    try {
      do {
        await alone(async () => {
          for (let pause = 500; (await store.kept()).length; ) {
            const { waits, refused, done } = await sendAll();
            refusal = refused || refusal;
            nDone = done;
            if (waits) {
              say(`Not saved yet: ${waits}. Keep this page open.`, true);
              await new Promise((resolve) => setTimeout(resolve, pause));
            }
            pause = waits ? Math.min(pause * 2, 15000) : 500;
          }
        });
        await showKept();
        if (refusal || nDone !== answers.size) await refresh();
      } while ((await store.kept()).length);
    } finally {
      isSaving = false;
    }
    if (refusal) say(`Not saved: ${refusal}.`, true);
    // An answer that is being stored is saved next.
    if (isStoring) return;
    if (!refusal) say("Saved.");
    el("status").dataset.state = "saved";
  };

  const refresh = async () => {
    try {
      const reply = await fetch(`${task.address}/answers?round=${task.round}`);
      if (!reply.ok) return;
      const stored = Object.entries(await reply.json());
      const kept = await store.kept();
      answers.clear();
      for (const [unit, answer] of stored) answers.set(unit, answer);
      for (const op of kept) applied(op);
      showProgress();
    } catch {
      // The next save finds out whether there is a connection.
    }
  };

  // ---- answering ----

  const unit = () => task.units[place];
  const question = () => task.questions[unit().question];

  const draft = () => ({
    unit: unit().code,
    confidence: document.querySelector("input[name=confidence]:checked")?.value ?? null,
    notes: el("notes").value.trim(),
    issues: el("issues").value.split("\n").map((line) => line.trim()).filter(Boolean),
    seconds: Math.round((performance.now() - shownAt - hiddenMs) / 100) / 10,
  });

  // The ratings of all options of a multi-select question, from what each is rated.
  const optionRatings = (rate) => {
    const { options } = unit();
    return options ? { ratings: Object.fromEntries(options.map(([code]) => [code, rate(code)])) } : {};
  };

  // What belongs to the answer and is still to be said; the answer waits for it.
  let waiting = null;

  const isAsked = (said) => {
    const { askedOfNo, asksConfidence } = question();
    const asksIssue = Boolean(askedOfNo) && said.rating === 0 && !draft().issues.length;
    const isSure = !asksConfidence || draft().confidence || said.skipReason;
    if (said.isComplete || (!asksIssue && isSure)) return false;
    waiting = said;
    el("asking").hidden = false;
    el("fired-row").hidden = !asksIssue;
    el("fired-label").textContent = askedOfNo;
    el("sure-row").hidden = Boolean(isSure);
    el(asksIssue ? "fired" : "sure-high").focus();
    return true;
  };

  const answerWaiting = () => {
    if (!el("sure-row").hidden && !draft().confidence) return el("sure-high").focus();
    if (el("fired").value.trim()) el("issues").value = el("fired").value.trim();
    answer({ ...waiting, isComplete: true });
  };

  const answerSurely = (level) => {
    be(level);
    answerWaiting();
  };

  const answer = async ({ isComplete, ...said }) => {
    if (isStoring || isAsked({ isComplete, ...said })) return;
    const before = answers.get(unit().code);
    const isOld = before && Date.now() - Date.parse(before.at) > UNDO_MS;
    const unrated = { rating: null, parses: null, skipReason: "", ...optionRatings(() => null) };
    await record({ ...draft(), ...unrated, ...said });
    given.push(place);
    next();
    if (isOld) say("Changed. Agreement counts your first answer; the change is on record.");
  };

  const next = () => {
    const order = [...task.units.keys()];
    const ahead = [...order.slice(place + 1), ...order.slice(0, place + 1)];
    const open = ahead.find((other) => !isDone(task.units[other]));
    if (open === undefined) {
      showDone();
    } else {
      show(open);
    }
  };

  const undo = async () => {
    if (isStoring) return;
    const last = given.pop();
    if (last === undefined) return say("Nothing to undo on this page.");
    const { code } = task.units[last];
    const stored = answers.get(code);
    const isFresh = stored && Date.now() - Date.parse(stored.at) <= UNDO_MS;
    if (isFresh) await record({ unit: code, undo: true, ratings: stored.ratings });
    show(last);
    if (isFresh) {
      fill(stored);
      say("Undone. Answer again.");
    } else if (stored) {
      say("That answer is older than a minute. Answer again to change it; the first is kept.");
    }
  };

  const selectedOptions = () => optionRatings((code) => (el(code).checked ? 1 : 0));

  const skip = (reason) => {
    if (!reason.trim()) return el("skip-reason").focus();
    answer({ rating: null, skipReason: reason.trim() });
  };

  const type = () => {
    const { scale } = question();
    const text = el("typed").value.trim().replace(",", ".");
    const value = Number(text);
    const isOn = scale.values
      ? scale.values.some((allowed) => Math.abs(allowed - value) < 1e-9)
      : value >= scale.low && value <= scale.high;
    if (!text || !isOn) {
      el("typed").setAttribute("aria-invalid", "true");
      return say(`Use ${scale.described}.`, true);
    }
    answer({ rating: value });
  };

  // ---- showing ----

  const element = (name, text, className) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const rawText = (content) => content.text ?? content;

  const passage = (content) => {
    const isRendered = content.html !== undefined && !isRaw;
    const made = element("div", rawText(content), isRendered ? "rendered" : "text");
    if (isRendered) made.innerHTML = content.html;
    made.dir = "auto";
    return made;
  };

  const clipped = (parent, children, key) => {
    const box = element("div", undefined, "box");
    box.replaceChildren(...children);
    parent.replaceChildren(box);
    const isLong = box.textContent.length > 6000 || box.textContent.split("\n").length > 80;
    if (!isLong) return;
    box.classList.add("clipped");
    const button = element("button", `Show all (${key})`, "quiet");
    button.type = "button";
    button.dataset.opens = key;
    button.addEventListener("click", () => {
      box.classList.remove("clipped");
      button.remove();
    });
    parent.append(button);
  };

  const titled = (name, children, key) => {
    const section = element("section");
    const content = element("div");
    clipped(content, children, key);
    section.append(element("h3", name), content);
    return section;
  };

  const show = (index) => {
    place = index;
    displayed.add(index);
    el("done").hidden = true;
    el("work").hidden = false;
    showTexts();
    showQuestion();
    showProgress();
    el("unit-title").textContent = title(unit());
    window.scrollTo(0, 0);
    el("unit-title").focus({ preventScroll: true });
    shownAt = performance.now();
    hiddenMs = 0;
  };

  const showTexts = () => {
    const texts = task.responses[unit().response];
    el("earlier").hidden = !texts.earlier.length;
    el("earlier-turns").replaceChildren(
      ...texts.earlier.flatMap((turn) => [
        element("h3", "Prompt"),
        passage(turn.prompt),
        element("h3", "Response"),
        passage(turn.response),
      ]),
    );
    el("prompt").hidden = !texts.prompt;
    el("prompt-text").replaceChildren(passage(texts.prompt));
    const isShort = ([, [line], isBrief]) => isBrief && !line.html?.includes("<img ");
    el("facts").replaceChildren(
      ...texts.facts.filter(isShort).flatMap(([name, lines]) => {
        const pair = element("div");
        pair.append(element("dt", name), element("dd", rawText(lines[0])));
        return [pair];
      }),
    );
    el("captures").replaceChildren(
      ...texts.facts
        .filter((fact) => !isShort(fact))
        .map(([name, lines]) => titled(name, lines.map(passage), "T")),
    );
    const sides = unit().sides ?? [texts.response];
    el("responses").classList.toggle("pair", sides.length > 1);
    el("responses").replaceChildren(
      ...sides.map((text, n) => {
        const name = sides.length > 1 ? "AB"[n] : "Response";
        return titled(name, [passage(text || "(empty response)")], "V");
      }),
    );
    el("first-ratings").hidden = !unit().firstRatings.length;
    el("first-ratings-list").replaceChildren(
      ...unit().firstRatings.map(([name, value, reason]) => {
        const item = element("li", `${name}: ${value}. ${reason}`);
        item.dir = "auto";
        return item;
      }),
    );
    el("guidelines").replaceChildren(
      passage(question().guidelines || "No guidelines for this question."),
    );
    el("raw-row").hidden = !task.isMarkdown;
    el("raw").setAttribute("aria-pressed", isRaw);
  };

  // A unit that comes back cannot be looked up any more once it did.
  const again = new Map();
  const firsts = new Map();
  task.units.forEach((one, index) => {
    const name = `${one.question} ${one.response}`;
    if (firsts.has(name)) again.set(firsts.get(name), index);
    else firsts.set(name, index);
  });

  const step = (direction) => {
    const cameBack = (index) =>
      again.has(index) &&
      (displayed.has(again.get(index)) || answers.has(task.units[again.get(index)].code));
    let index = el("work").hidden ? place : place + direction;
    while (cameBack(index)) index += direction;
    show(task.units[index] ? index : place);
  };

  const showQuestion = () => {
    const asked = question();
    el("question").textContent = asked.question;
    const buttons = unit().options ? optionBoxes(unit().options) : asked.choices.map(choiceButton);
    el("choices").replaceChildren(...buttons);
    el("typing").hidden = buttons.length > 0;
    el("typed-label").textContent = `Your value: ${asked.scale.described}`;
    el("typed").value = "";
    el("typed").removeAttribute("aria-invalid");
    el("notes-label").textContent = `${asked.note || "Comment"} (M)`;
    el(asked.note ? "choices" : "confidence").after(el("notes-row"));
    el("issues-label").textContent = `${asked.asksFor}, one a line`;
    el("asking").hidden = true;
    el("fired").value = "";
    el("skipping").hidden = true;
    el("skip-reason").value = "";
    const before = answers.get(unit().code);
    fill(before ?? { confidence: null, notes: "", issues: [] });
    showGiven();
  };

  const choiceButton = (choice) => {
    const button = element("button", choice.name, "choice");
    button.type = "button";
    const key = element("kbd", choice.key.toUpperCase());
    if (choice.key !== choice.name) button.append(" ", key);
    if (choice.anchor) {
      const anchor = element("span", choice.anchor.split(/[:;.]( |$)/)[0], "anchor");
      anchor.dir = "auto";
      button.append(" ", anchor);
      button.title = choice.anchor;
    }
    button.addEventListener("click", () => answer({ rating: choice.value, parses: choice.parses }));
    return button;
  };

  // Enter saves, also while a box has the focus; Space ticks it.
  const optionBoxes = (options) => {
    const boxes = options.map(([code, name], n) => {
      const label = element("label", undefined, "option");
      const box = element("input");
      box.type = "checkbox";
      box.id = code;
      label.append(box, element("span", name), element("kbd", String(n + 1)));
      return label;
    });
    const button = element("button", "Save ", "choice");
    button.type = "button";
    button.append(element("kbd", "Enter"));
    button.addEventListener("click", () => answer(selectedOptions()));
    return [...boxes, button];
  };

  const showGiven = () => {
    const before = answers.get(unit().code);
    el("given").hidden = !before;
    if (before) el("given").textContent = `Your answer: ${named(before)}`;
  };

  const title = (of) => {
    const asked = of.question;
    const alike = task.units.filter((one) => one.question === asked);
    const response = `Response ${alike.indexOf(of) + 1} of ${alike.length}`;
    const n = task.questions.length;
    return n > 1 ? `${response}, question ${asked + 1} of ${n}` : response;
  };

  const named = (said) => {
    const ratings = Object.values(said.ratings ?? { unit: said.rating });
    if (ratings.includes(null)) return `unclear (${said.skipReason})`;
    const confidence = said.confidence ? `, ${said.confidence} confidence` : "";
    return `${namedRating(said)}${confidence}`;
  };

  const namedRating = (said) => {
    const { options } = unit();
    if (options) {
      const names = options.filter(([code]) => said.ratings?.[code]).map(([, name]) => name);
      return names.join(", ") || "none of these";
    }
    const alike = question().choices.filter((one) => one.value === said.rating);
    const choice = alike.find((one) => one.parses === (said.parses ?? null));
    return choice ? choice.name : said.rating;
  };

  const be = (confidence) => {
    for (const level of CONFIDENCES) el(`confidence-${level}`).checked = level === confidence;
    el("more-title").textContent = `Confidence: ${confidence ?? "not stated"}. Comment, issues`;
  };

  const fill = (said) => {
    be(said.confidence);
    el("notes").value = said.notes;
    el("issues").value = said.issues.join("\n");
    el("more").open = Boolean(said.notes || said.issues.length);
    for (const [code] of unit().options ?? []) el(code).checked = said.ratings?.[code] === 1;
  };

  const showProgress = () => {
    const done = task.units.filter(isDone).length;
    el("progress").value = done;
    el("progress").max = task.units.length;
    el("progress-text").textContent = `${done} of ${task.units.length} done`;
  };

  const showDone = () => {
    showProgress();
    el("work").hidden = true;
    el("done").hidden = false;
    el("done-title").focus();
  };

  const say = (text, isBad = false) => {
    el("status").textContent = text;
    el("status").classList.toggle("bad", isBad);
  };

  const saveRefused = async () => {
    const lines = (await store.refused()).map((op) => `${JSON.stringify(op)}\n`);
    const link = element("a");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/jsonl" }));
    link.download = "refused.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };

  // ---- keys and buttons ----

  const finish = () => {
    const hasResult = task.hasSequel && task.units.every(isDone);
    fetch(`${task.address}/close`, { method: "POST" }).then(
      (reply) =>
        reply.ok && !nKept && hasResult
          ? location.reload()
          : reply.ok && !nKept
          ? say("Saved. You can close this page and come back to it.")
          : say(`Not saved yet: ${nKept}. Keep this page open.`, true),
      () => say("No connection. Keep this page open.", true),
    );
  };

  const actions = {
    s: () => {
      el("skipping").hidden = false;
      el("skip-reason").focus();
    },
    u: undo,
    c: () => {
      const now = draft().confidence;
      const after = CONFIDENCES[(CONFIDENCES.indexOf(now) + 1) % CONFIDENCES.length];
      be(after);
      say(`Confidence: ${after}.`);
    },
    m: () => {
      if (!question().note) el("more").open = true;
      el("notes").focus();
    },
    i: () => {
      el("more").open = true;
      el("issues").focus();
    },
    g: () => {
      el("guide").open = !el("guide").open;
    },
    r: () => {
      isRaw = task.isMarkdown && !isRaw;
      showTexts();
    },
    v: () => document.querySelectorAll("[data-opens=V]").forEach((one) => one.click()),
    t: () => document.querySelectorAll("[data-opens=T]").forEach((one) => one.click()),
    q: finish,
    arrowleft: () => step(-1),
    arrowright: () => step(1),
  };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inField = event.target.closest("textarea, input:not([type=radio]):not([type=checkbox])");
    if (event.key === "Escape" && inField) return inField.blur();
    if (event.key === "Enter" && event.target.id === "typed") return type();
    if (event.key === "Enter" && event.target.id === "fired") {
      event.preventDefault(); // else it would press the button that gets the focus
      return answerWaiting();
    }
    if (event.key === "Enter" && event.target.id === "skip-reason") {
      event.preventDefault();
      return skip(el("skip-reason").value);
    }
    if (inField || !el("shortcuts").checked) return;
    const key = event.key.toLowerCase();
    if (event.repeat && !key.startsWith("arrow")) return;
    if (event.target.type === "radio" && key.startsWith("arrow")) return;
    const level = CONFIDENCES.find((name) => name[0] === key);
    if (level && !el("asking").hidden && !el("sure-row").hidden) return answerSurely(level);
    if (!el("work").hidden && unit().options) {
      const option = unit().options[Number(key) - 1];
      if (option) return el(option[0]).click();
      if (key === "enter" && !event.target.closest("button, summary")) {
        return isStoring || answer(selectedOptions());
      }
    } else if (!el("work").hidden) {
      const choice = question().choices.find((one) => one.key === key);
      if (choice) {
        event.preventDefault();
        return answer({ rating: choice.value, parses: choice.parses });
      }
    }
    if (!el("work").hidden && !el("typing").hidden && /^[0-9.,-]$/.test(key)) {
      return el("typed").focus(); // the key then goes into the field
    }
    const action = actions[key];
    if (action && !isStoring && (!el("work").hidden || ["u", "q", "arrowleft"].includes(key))) {
      event.preventDefault();
      action();
    }
  };

  document.addEventListener("keydown", onKey);
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) hiddenSince = performance.now();
    else if (hiddenSince) hiddenMs += performance.now() - hiddenSince;
  });
  window.addEventListener("beforeunload", (event) => {
    if (nKept) event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => isStoring || actions[button.dataset.key]());
  }
  for (const button of document.querySelectorAll("[data-reason]")) {
    button.addEventListener("click", () => skip(button.dataset.reason));
  }
  for (const radio of document.querySelectorAll("input[name=confidence]")) {
    radio.addEventListener("change", () => be(radio.value));
  }
  for (const button of document.querySelectorAll("[data-sure]")) {
    button.addEventListener("click", () => answerSurely(button.dataset.sure));
  }
  el("fired-save").addEventListener("click", answerWaiting);
  el("skip-other").addEventListener("click", () => skip(el("skip-reason").value));
  el("typed-save").addEventListener("click", type);

  el("refused-save").addEventListener("click", saveRefused);

  const begin = async () => {
    for (const op of await store.kept()) applied(op);
    await showKept();
    el("notice").textContent = task.notice;
    el("notice").hidden = !task.notice;
    el("result").hidden = !task.hasSequel;
    el("guide").open = window.matchMedia("(min-width: 60rem)").matches;
    if (!task.units.length) {
      showDone();
      el("done-title").textContent = "Nothing to label at present.";
      for (const part of document.querySelectorAll("#done p")) part.hidden = true;
    } else {
      place = task.units.length - 1;
      next();
    }
    document.body.classList.add("ready");
    if (nKept) save();
  };
  begin();
})();
