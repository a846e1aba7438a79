"use strict";
// The labelling screen, online and offline. Texts are only ever set as text, never as markup.
(() => {
  const task = JSON.parse(document.getElementById("task").textContent);
  const el = (id) => document.getElementById(id);
  const UNDO_MS = task.undoSeconds * 1000;
  const CONFIDENCES = ["high", "medium", "low"];

  const answers = new Map(Object.entries(task.answers));
  const given = []; // units answered on this page, latest last
  let place = 0;
  let shownAt = 0;
  let hiddenMs = 0;
  let hiddenSince = 0;
  let isSaving = false;

  // ---- what was answered, kept until it is saved ----

  const store = (() => {
    const key = `eval-assets:${task.page}`;
    const memory = { text: "[]" };
    const attempt = (work, otherwise) => {
      try {
        return work();
      } catch {
        return otherwise();
      }
    };
    return {
      read: () => JSON.parse(attempt(() => localStorage.getItem(key) ?? "[]", () => memory.text)),
      write: (ops) => {
        memory.text = JSON.stringify(ops);
        store.isKept = attempt(
          () => (localStorage.setItem(key, memory.text), true),
          () => false,
        );
      },
      add: (op) => store.write([...store.read(), op]),
      remove: (id) => store.write(store.read().filter((op) => op.id !== id)),
      isKept: true,
    };
  })();

  const record = (op) => {
    const at = new Date();
    const random = crypto.getRandomValues(new Uint32Array(2)).join("-");
    store.add({ id: `${at.getTime()}-${random}`, at: at.toISOString(), ...op });
    if (task.isOffline) {
      say(store.isKept ? "Kept in this browser." : "Not kept: save your labels before you close.");
    } else {
      el("status").dataset.state = "saving";
      save();
    }
  };

  const applied = (op) => {
    if (op.undo) {
      answers.delete(op.unit);
    } else {
      answers.set(op.unit, op);
    }
  };

  // ---- saving to the server: one at a time, in order, until each has arrived ----

  const alone = (work) =>
    navigator.locks ? navigator.locks.request(`eval-assets:${task.page}`, work) : work();

  const save = async () => {
    if (isSaving) return;
    isSaving = true;
    await alone(async () => {
      for (let waited = 500; store.read().length; ) {
        const [op] = store.read();
        const sent = { ...op, ageMs: Math.max(0, Date.now() - Date.parse(op.at)) };
        let reply;
        try {
          reply = await fetch(`${task.address}/labels`, {
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify(sent),
          });
        } catch {
          reply = { ok: false, status: 0 };
        }
        if (reply.ok || (reply.status >= 400 && reply.status < 500)) {
          store.remove(op.id);
          waited = 500;
          const body = await reply.json();
          if (reply.ok) {
            say("Saved.");
            if (!store.read().length) el("status").dataset.state = "saved";
            if (body.done !== answers.size && !store.read().length) await refresh();
          } else {
            say(`Not saved: ${body.error}`, true);
            await refresh();
          }
        } else {
          say("Not saved yet: no connection. Keep this page open.", true);
          await new Promise((resolve) => setTimeout(resolve, waited));
          waited = Math.min(waited * 2, 15000);
        }
      }
    });
    isSaving = false;
    if (store.read().length) save();
  };

  const refresh = async () => {
    try {
      const reply = await fetch(`${task.address}/answers`);
      if (!reply.ok) return;
      const stored = Object.entries(await reply.json());
      answers.clear();
      for (const [unit, answer] of stored) answers.set(unit, answer);
      for (const op of store.read()) applied(op);
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
    confidence: document.querySelector("input[name=confidence]:checked").value,
    notes: el("notes").value.trim(),
    issues: el("issues").value.split("\n").map((line) => line.trim()).filter(Boolean),
    seconds: Math.round((performance.now() - shownAt - hiddenMs) / 100) / 10,
    ...(task.isOffline ? { hashes: unit().hashes } : {}),
  });

  const answer = (said) => {
    const before = answers.get(unit().code);
    const isOld = before && Date.now() - Date.parse(before.at) > UNDO_MS;
    const op = { ...draft(), rating: null, skipReason: "", ...said };
    record(op);
    applied({ ...op, at: new Date().toISOString() });
    given.push(place);
    next();
    if (isOld) say("Changed. Agreement counts your first answer; the change is on record.");
  };

  const next = () => {
    const order = [...task.units.keys()];
    const ahead = [...order.slice(place + 1), ...order.slice(0, place + 1)];
    const open = ahead.find((other) => !answers.has(task.units[other].code));
    if (open === undefined) {
      showDone();
    } else {
      show(open);
    }
  };

  const undo = () => {
    const last = given.pop();
    if (last === undefined) return say("Nothing to undo on this page.");
    const { code } = task.units[last];
    const stored = answers.get(code);
    const isFresh = stored && Date.now() - Date.parse(stored.at) <= UNDO_MS;
    if (isFresh) {
      answers.delete(code);
      record({ unit: code, undo: true });
    }
    show(last);
    if (isFresh) {
      fill(stored);
      say("Undone. Answer again.");
    } else if (stored) {
      say("That answer is older than a minute. Answer again to change it; the first is kept.");
    }
  };

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

  const passage = (text) => {
    const made = element("div", text, "text");
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

  const show = (index) => {
    place = index;
    const { response } = unit();
    const texts = task.responses[response];
    el("done").hidden = true;
    el("work").hidden = false;
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
    const isShort = ([, lines]) => lines.length === 1 && lines[0].length <= 60;
    el("facts").replaceChildren(
      ...texts.facts.filter(isShort).flatMap(([name, lines]) => {
        const pair = element("div");
        pair.append(element("dt", name), element("dd", lines[0]));
        return [pair];
      }),
    );
    el("captures").replaceChildren(
      ...texts.facts
        .filter((fact) => !isShort(fact))
        .map(([name, lines]) => {
          const section = element("section");
          const content = element("div");
          clipped(content, lines.map((line) => passage(line)), "T");
          section.append(element("h3", name), content);
          return section;
        }),
    );
    clipped(el("response-text"), [passage(texts.response || "(empty response)")], "V");
    showQuestion();
    showProgress();
    el("unit-title").textContent = title();
    window.scrollTo(0, 0);
    el("unit-title").focus({ preventScroll: true });
    shownAt = performance.now();
    hiddenMs = 0;
  };

  const showQuestion = () => {
    const asked = question();
    el("question").textContent = asked.question;
    el("guidelines").textContent = asked.guidelines || "No guidelines for this question.";
    el("choices").replaceChildren(
      ...asked.choices.map((choice) => {
        const button = element("button", choice.name, "choice");
        button.type = "button";
        const key = element("kbd", choice.key.toUpperCase());
        if (choice.key !== choice.name) button.append(" ", key);
        button.addEventListener("click", () => answer({ rating: choice.value }));
        return button;
      }),
    );
    el("typing").hidden = asked.choices.length > 0;
    el("typed-label").textContent = `Your value: ${asked.scale.described}`;
    el("typed").value = "";
    el("typed").removeAttribute("aria-invalid");
    el("issues-label").textContent = `${asked.asksFor}, one a line`;
    el("skipping").hidden = true;
    el("skip-reason").value = "";
    const before = answers.get(unit().code);
    fill(before ?? { confidence: "high", notes: "", issues: [] });
    el("given").hidden = !before;
    if (before) el("given").textContent = `Your answer: ${named(before)}`;
  };

  const title = () => {
    const asked = unit().question;
    const alike = task.units.filter((one) => one.question === asked);
    const response = `Response ${alike.indexOf(unit()) + 1} of ${alike.length}`;
    const n = task.questions.length;
    return n > 1 ? `${response}, question ${asked + 1} of ${n}` : response;
  };

  const named = (said) => {
    if (said.rating === null) return `unclear (${said.skipReason})`;
    const choice = question().choices.find((one) => one.value === said.rating);
    return `${choice ? choice.name : said.rating}, ${said.confidence} confidence`;
  };

  const be = (confidence) => {
    el(`confidence-${confidence}`).checked = true;
    el("more-title").textContent = `Confidence: ${confidence}. Comment, issues`;
  };

  const fill = (said) => {
    be(said.confidence);
    el("notes").value = said.notes;
    el("issues").value = said.issues.join("\n");
    el("more").open = Boolean(said.notes || said.issues.length);
  };

  const showProgress = () => {
    const done = task.units.filter((one) => answers.has(one.code)).length;
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

  // ---- giving labels back from an offline page ----

  const download = () => {
    const head = { format: "eval-assets labels", page: task.page, rater: task.rater };
    const lines = [head, ...store.read()].map((line) => JSON.stringify(line));
    const text = `${lines.join("\n")}\n`;
    const seal = JSON.stringify({ seal: window.evalAssetsSeal(task.key, text) });
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([text, seal, "\n"], { type: "application/jsonl" }));
    link.download = task.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    say(`Saved as ${task.file}. Send that file back.`);
  };

  // ---- keys and buttons ----

  const finish = () => {
    if (task.isOffline) return download();
    fetch(`${task.address}/close`, { method: "POST" }).then(
      () => say("Saved. You can close this page and come back to it."),
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
      el("more").open = true;
      el("notes").focus();
    },
    i: () => {
      el("more").open = true;
      el("issues").focus();
    },
    g: () => {
      el("guide").open = !el("guide").open;
    },
    v: () => document.querySelectorAll("[data-opens=V]").forEach((one) => one.click()),
    t: () => document.querySelectorAll("[data-opens=T]").forEach((one) => one.click()),
    q: finish,
    arrowleft: () => show(Math.max(0, place - 1)),
    arrowright: () => show(Math.min(task.units.length - 1, place + 1)),
  };

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const inField = event.target.closest("textarea, input:not([type=radio]):not([type=checkbox])");
    if (event.key === "Escape" && inField) return inField.blur();
    if (event.key === "Enter" && event.target.id === "typed") return type();
    if (event.key === "Enter" && event.target.id === "skip-reason") {
      event.preventDefault();
      return skip(el("skip-reason").value);
    }
    if (inField || !el("shortcuts").checked) return;
    const key = event.key.toLowerCase();
    if (event.repeat && !key.startsWith("arrow")) return;
    if (event.target.type === "radio" && key.startsWith("arrow")) return;
    if (!el("work").hidden) {
      const choice = question().choices.find((one) => one.key === key);
      if (choice) {
        event.preventDefault();
        return answer({ rating: choice.value });
      }
    }
    if (!el("work").hidden && !el("typing").hidden && /^[0-9.,-]$/.test(key)) {
      return el("typed").focus(); // the key then goes into the field
    }
    const action = actions[key];
    if (action && (!el("work").hidden || ["u", "q", "arrowleft"].includes(key))) {
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
    if (!task.isOffline && store.read().length) event.preventDefault();
  });
  for (const button of document.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => actions[button.dataset.key]());
  }
  for (const button of document.querySelectorAll("[data-reason]")) {
    button.addEventListener("click", () => skip(button.dataset.reason));
  }
  for (const radio of document.querySelectorAll("input[name=confidence]")) {
    radio.addEventListener("change", () => be(radio.value));
  }
  el("skip-other").addEventListener("click", () => skip(el("skip-reason").value));
  el("typed-save").addEventListener("click", type);

  for (const op of store.read()) applied(op);
  el("guide").open = window.matchMedia("(min-width: 60rem)").matches;
  document.body.classList.add("ready");
  if (!task.units.length) {
    showDone();
  } else {
    place = task.units.length - 1;
    next();
  }
  if (!task.isOffline && store.read().length) save();
})();
