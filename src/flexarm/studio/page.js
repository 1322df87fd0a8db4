// What the page does beyond viser's: files dropped anywhere on it, points of maps that are clicked, numbers that arrow
// keys turn, files that are too large, which are refused before they are sent, errors beside what was touched, and
// colours of the arm. Elements are found by marks that stand right before them.
(() => {
  "use strict";
  const LARGEST = 0; // bytes: the server puts its own limit here
  const HIDDEN = '[data-studio="told"], [data-studio="dropped"]';

  const behind = (name) => {
    const mark = document.querySelector(`[data-studio="${name}"]`);
    return mark?.parentElement?.nextElementSibling?.querySelector("input") ?? null;
  };

  // React hears of a value only if the element's own setter is passed by.
  const put = (input, field, value) => {
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, field).set.call(input, value);
    input.dispatchEvent(new Event(field === "files" ? "change" : "input", { bubbles: true }));
  };

  let told = 0;
  const tell = (what) => {
    const input = behind("told");
    if (input !== null) put(input, "value", JSON.stringify({ ...what, number: ++told }));
    return input !== null;
  };

  const tooLarge = (file) => {
    if (file.size <= LARGEST) return false;
    tell({ kind: "large", name: file.name, size: file.size });
    return true;
  };

  const veil = document.createElement("div");
  veil.textContent = "Drop a robot (.yaml), a run or a sweep (.nc)";
  veil.style.cssText =
    "position:fixed;inset:0;z-index:10000;display:none;align-items:center;justify-content:center;pointer-events:none;" +
    "background:rgba(45,110,160,.25);border:4px dashed #2d6ea0;font:600 22px sans-serif;color:#12344d";
  const lift = () => (veil.style.display = "none");

  const holdsFiles = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");

  window.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return; // panels are dragged, too
    event.preventDefault();
    veil.style.display = "flex";
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && lift());
  window.addEventListener("drop", (event) => {
    lift();
    if (!holdsFiles(event)) return;
    event.preventDefault(); // or the browser would leave the page for the file
    const files = event.dataTransfer.files;
    if (files.length > 1) {
      tell({ kind: "several", count: files.length });
    } else if (files.length === 1 && !tooLarge(files[0])) {
      const input = behind("dropped");
      if (input === null) window.alert("Nothing was opened: the panel of the studio is closed.");
      else put(input, "files", files);
    }
  });

  // The button takes large files as well: caught before React hears of them.
  window.addEventListener(
    "change",
    (event) => {
      const input = event.target;
      if (input instanceof HTMLInputElement && input.type === "file" && input.files?.length && tooLarge(input.files[0])) {
        event.stopImmediatePropagation();
      }
    },
    true,
  );

  window.addEventListener("click", (event) => {
    const map = event.target instanceof Element ? event.target.closest('[data-studio="map"]') : null;
    if (map === null) return;
    const box = map.getBoundingClientRect();
    tell({ kind: "map", x: (event.clientX - box.left) / box.width, y: (event.clientY - box.top) / box.height });
  });

  // Numbers stand in text fields, which take 1e-2 as it is typed. About a twentieth of what is there: 1, 2 or 5 times
  // a power of ten; counts by one.
  const stepOf = (value) => {
    if (value === 0) return 0.01;
    const size = Math.abs(value) / 20;
    const power = 10 ** Math.floor(Math.log10(size));
    const apart = (step) => Math.abs(Math.log((step * power) / size));
    return power * [1, 2, 5, 10].reduce((best, step) => (apart(step) < apart(best) ? step : best));
  };
  window.addEventListener("keydown", (event) => {
    const input = event.target;
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (way === undefined || !(input instanceof HTMLInputElement) || !input.matches(".mantine-TextInput-input")) return;
    const value = input.value.trim() === "" ? NaN : Number(input.value);
    if (!Number.isFinite(value)) return;
    event.preventDefault();
    const whole = /(count\)?|member)$/.test(input.labels?.[0]?.textContent.trim() ?? "");
    const step = whole ? 1 : stepOf(value);
    put(input, "value", String(Number((value + way * step).toPrecision(12))));
  });

  // Labels of text fields lead nowhere in viser: neither a click on them nor a screen reader finds the field.
  const nameFields = () => {
    for (const label of document.querySelectorAll("label[for]")) {
      if (document.getElementById(label.htmlFor) !== null) continue;
      const inputs = label.closest(".mantine-Flex-root")?.querySelectorAll("input.mantine-TextInput-input") ?? [];
      if (inputs.length === 1) inputs[0].id = label.htmlFor;
    }
  };

  // Errors stand at the top of the panel, which may be scrolled out of sight: they are said beside what was touched as
  // well, over the robot, where they cover no handle.
  const callout = document.createElement("div");
  callout.setAttribute("role", "alert");
  callout.style.cssText =
    "position:fixed;z-index:9000;display:none;box-sizing:border-box;padding:10px 34px 10px 14px;border-radius:4px;" +
    "border-left:5px solid #b3261e;background:#fdecea;color:#b3261e;font:13px/1.4 sans-serif;overflow-wrap:anywhere;" +
    "max-height:60vh;overflow:auto;box-shadow:0 2px 12px rgba(0,0,0,.3)";
  const words = document.createElement("span");
  const away = document.createElement("button");
  away.textContent = "\u00d7";
  away.setAttribute("aria-label", "Put this away");
  away.style.cssText = "position:absolute;top:2px;right:6px;border:0;background:none;color:inherit;font-size:20px;cursor:pointer";
  callout.append(words, away);
  let touched = null; // what was last turned, typed into or pressed
  let read = null; // number of the error that was put away
  for (const kind of ["pointerdown", "keydown", "input"]) {
    const note = ({ target }) => {
      const handle = target instanceof Element && !callout.contains(target) ? target.closest("input, button") : null;
      if (handle !== null) touched = handle;
    };
    window.addEventListener(kind, note, true);
  }
  window.addEventListener("drop", () => (touched = null), true);
  away.addEventListener("click", () => {
    read = document.querySelector('[data-studio="error"]')?.dataset.number ?? null;
    sayErrors();
  });

  const place = () => {
    if (callout.style.display === "none") return;
    const all = { left: 0, right: window.innerWidth, width: window.innerWidth };
    const canvas = document.querySelector('canvas[data-engine^="three"]')?.getBoundingClientRect();
    const view = canvas?.width > 200 ? canvas : all;
    callout.style.maxWidth = `${Math.min(380, view.width - 24)}px`;
    const { width, height } = callout.getBoundingClientRect();
    const at = touched?.isConnected ? touched.getBoundingClientRect() : null;
    const seen = at !== null && at.height > 0;
    const middle = view.left + (view.width - width) / 2;
    const [left, right] = [view.left + 12, view.right - width - 12];
    const x = !seen ? middle : at.left >= view.right - 2 ? right : at.right <= view.left + 2 ? left : middle;
    const y = seen ? at.top + (at.height - height) / 2 : window.innerHeight;
    callout.style.left = `${x}px`;
    callout.style.top = `${Math.max(12, Math.min(y, window.innerHeight - height - 12))}px`;
  };
  let refused = null; // the field that is marked
  const sayErrors = () => {
    const error = document.querySelector('[data-studio="error"]');
    const shown = error !== null && error.dataset.number !== read;
    if (error === null || refused?.said !== error.dataset.number) refused?.field.removeAttribute("data-refused");
    if (error === null) refused = read = null;
    else if (refused?.said !== error.dataset.number && touched?.matches("input.mantine-TextInput-input")) {
      refused = { field: touched, said: error.dataset.number };
      touched.setAttribute("data-refused", "");
    }
    if (shown) words.textContent = error.textContent;
    callout.style.display = shown ? "block" : "none";
    place();
  };
  window.addEventListener("resize", place);
  window.addEventListener("scroll", place, true);

  let looking = false;
  const lookSoon = () => {
    if (looking) return;
    looking = true;
    window.requestAnimationFrame(() => {
      looking = false;
      nameFields();
      sayErrors();
    });
  };

  // Tabs in one row, hints late and small: they would cover the handles above, and what is typed.
  const STYLE = `
    div:has(> :is(${HIDDEN})) + * { display: none }
    input[data-refused] { border-color: #b3261e !important; background: #fdecea !important }
    [data-dock-strip] { flex-wrap: nowrap !important }
    [data-dock-tab] { padding: 0 4px !important; font-size: 11.5px; font-weight: 500 !important; flex: 0 1 auto;
      justify-content: center }
    [data-dock-tab]:not(:only-child) { flex: 1 1 auto }
    @keyframes studio-late { from, 70% { opacity: 0 } }
    .mantine-Tooltip-tooltip { width: max-content !important; padding: 1px 6px !important; font-size: 11px !important;
      pointer-events: none; animation: studio-late 1s }
    body:has(input:focus) .mantine-Tooltip-tooltip { display: none }
  `;

  // The arm is one mesh, whose second half of corners are the colours of the first: no triangle leads to them. Here they
  // become colours, before the frame is drawn that has the corners. three.js tells whoever asks of scenes it makes.
  const colouredHalf = (position, index) => {
    const half = position.count / 2;
    return Number.isInteger(half) && half > 0 && index.array.every((corner) => corner < half);
  };
  const painted = new WeakMap(); // geometries, with what they were painted by
  const paint = ({ geometry, material }) => {
    const { position, color } = geometry?.attributes ?? {};
    const index = geometry?.index;
    if (!position?.array || !index || !material?.isMeshStandardMaterial) return;
    const done = painted.get(geometry) ?? {};
    if (done.corners === position.array) return;
    const known = done.count === position.count && done.triangles === index.array;
    const coloured = known ? done.coloured : colouredHalf(position, index);
    painted.set(geometry, { corners: position.array, triangles: index.array, count: position.count, coloured });
    if (!coloured) return;
    const { length } = position.array;
    const colours = color?.array.length === length ? color : new position.constructor(new Float32Array(length), 3);
    colours.array.set(position.array.subarray(length / 2));
    colours.needsUpdate = true;
    if (colours !== color) geometry.setAttribute("color", colours);
    if (material.vertexColors) return;
    material.vertexColors = material.needsUpdate = true;
    material.color.set(0xffffff);
  };
  window.__THREE_DEVTOOLS__ ??= new EventTarget();
  window.__THREE_DEVTOOLS__.addEventListener("observe", ({ detail: scene }) => {
    if (!scene.isScene) return;
    const usual = scene.onBeforeRender;
    scene.onBeforeRender = (...given) => {
      usual.apply(scene, given);
      scene.traverse(paint);
    };
  });

  document.addEventListener("DOMContentLoaded", () => {
    new MutationObserver(lookSoon).observe(document.body, { childList: true, subtree: true });
    const style = document.createElement("style");
    style.textContent = STYLE;
    document.head.append(style);
    document.body.append(veil, callout);
  });
})();
